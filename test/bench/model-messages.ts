import type { JsonObject } from '../../rehearsal/messages-api.ts';

/** A model call as it reached the server. */
export interface Arrival {
  readonly callKey: string;
  /** Unix epoch milliseconds. */
  readonly atMs: number;
  /** Body of the request; null unless bodies are kept. */
  readonly body: JsonObject | null;
}

/** Requests of the parent process. The reply to each is a reading. */
export type ModelRequest =
  | 'read'
  /** From here on bodies are kept until they are read. */
  | 'keep bodies';

/** Counts of the model server. */
export interface ModelReading {
  /** Since the reading before, in the order of arrival. */
  readonly arrivals: Arrival[];
  /** Bytes of the newest first call of a conversation. */
  readonly promptBytes: number;
  /** CPU time of the model server's process since its start. */
  readonly cpuMs: number;
}

/** From the model server to its parent. */
export type ModelMessage =
  | { readonly type: 'ready'; readonly url: string }
  | ({ readonly type: 'reading' } & ModelReading);
