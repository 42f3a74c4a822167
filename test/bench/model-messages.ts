import type { JsonObject } from '../../rehearsal/text.ts';

/** A model call as it reached the server. */
export interface Arrival {
  readonly callKey: string;
  /** Unix epoch milliseconds. */
  readonly atMs: number;
  /** What was sent; null unless bodies are kept. */
  readonly body: JsonObject | null;
}

/** What the parent asks for. Each is answered by a reading. */
export type ModelRequest =
  | 'read'
  /** From here on bodies are kept until they are read. */
  | 'keep bodies';

/** What the model server has seen. */
export interface ModelReading {
  /** Since the reading before, in the order of arrival. */
  readonly arrivals: Arrival[];
  /** Bytes of the newest first call of a conversation. */
  readonly promptBytes: number;
  /** Of the model server's process, since it started. */
  readonly cpuMs: number;
}

/** From the model server to its parent. */
export type ModelMessage =
  | { readonly type: 'ready'; readonly url: string }
  | ({ readonly type: 'reading' } & ModelReading);
