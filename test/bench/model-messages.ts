/** A model call as it reached the server. */
export interface Arrival {
  readonly callKey: string;
  /** Unix epoch milliseconds. */
  readonly atMs: number;
}

/** What the model server has seen. */
export interface ModelReading {
  /** Since the reading before, in the order of arrival. */
  readonly arrivals: Arrival[];
  /** Bytes of the newest first call of a conversation. */
  readonly promptBytes: number;
  /** Of the model server's process, since it started. */
  readonly cpuMs: number;
}

/** From the model server to its parent. Any message from the parent asks for a reading. */
export type ModelMessage =
  | { readonly type: 'ready'; readonly url: string }
  | ({ readonly type: 'reading' } & ModelReading);
