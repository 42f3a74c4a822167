/** A page as text for a model. */
export interface FetchedPage {
  /** Address after redirects. */
  readonly url: string;
  readonly title: string;
  readonly text_md: string;
  /** Bytes of the body. */
  readonly bytes: number;
}

/** Opens pages of allowed hosts. */
export interface PageFetcher {
  /**
   * Opens one page.
   *
   * @throws Error whose message says why it may not be opened, or why it could not.
   */
  fetch(url: string, signal: AbortSignal): Promise<FetchedPage>;
}
