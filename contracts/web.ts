import type { Ref } from './ref.ts';

/** Call of `web_research` as people see it before they approve it. */
export interface ResearchCall {
  /** The question, cut. */
  readonly target: string;
  /** The arguments as JSON, cut. */
  readonly arguments_shown: string;
  /** True when the agent is of high risk, so that a person approves each call. */
  readonly needs_approval: boolean;
}

/** First message of a nested call: nothing but the arguments of `web_research` goes into it. */
export interface WebResearchPrompt {
  readonly kind: 'web_research';
  /** The arguments as JSON in the store. */
  readonly input_ref: Ref;
}

/** Part of a page that supports a statement of a report. */
export interface SourceRef {
  readonly url: string;
  /** Empty when the page has none. */
  readonly title: string;
  /** Words of the page. Empty for a page that was opened and not quoted. */
  readonly quotation: string;
  /** Time at which the page was read, in ISO 8601. */
  readonly retrieved_at: string;
}

/** Result of `web_research`, as the agent reads it and as the store keeps it. */
export interface WebReport {
  readonly question: string;
  readonly answer_md: string;
  readonly source_refs: readonly SourceRef[];
  readonly searches: number;
  /** Different pages that were fetched or quoted. */
  readonly opened: number;
  /** Searches and fetches that failed, in the provider's words. */
  readonly errors: readonly string[];
}

/** Report without its texts. */
export interface WebReportOutline extends Pick<WebReport, 'searches' | 'opened'> {
  readonly shape: 'web_report';
  /** The WebReport as JSON. */
  readonly report_ref: Ref;
  /** Bytes of the report. */
  readonly bytes: number;
}
