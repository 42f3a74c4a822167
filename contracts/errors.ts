import type { Ref } from './ref.ts';
import type { Usage } from './usage.ts';

/**
 * Types of the failures that cross an activity or workflow boundary.
 *
 * The type says what the engine does about it; Temporal keeps only a failure's type, message and details.
 * - `retry`: Temporal repeats the activity after a back-off.
 * - `stop`: the caller fails with the message; the planner decides what that means for the wave.
 * - `park`: the run keeps everything, starts nothing and waits for `resume`, or until the failure's `resume_at`.
 */
export type FailureConsequence = 'retry' | 'stop' | 'park';

export const failureConsequences = {
  /** Bad workflow input. The message lists every fault at once. */
  InvalidInput: 'stop',
  /** The API refused this request (400, 412, 413, 422, 431, unknown 4xx). */
  ModelRequest: 'stop',
  /** The prompt does not fit the model's context. Compacted and asked again, twice at most. */
  ModelContextExceeded: 'stop',
  /** The API answered twice with something other than a message. */
  ModelProtocol: 'stop',
  /** The key is missing, wrong, or lacks a permission (401, 403). */
  ModelAuth: 'park',
  /** The account can't pay (402). */
  ModelBilling: 'park',
  /** The model does not exist (404). */
  ModelGone: 'park',
  /** A spend limit of the account was reached. */
  ModelSpendCap: 'park',
  /**
   * The tenant's budget of the day is used up; the run goes on by itself when the day ends or the limit is raised. Retried
   * while calls in progress may leave room.
   */
  TenantBudget: 'park',
  /** Overload, rate limit, network, cut or stalled stream. Parks when its retries are used up. */
  ModelUnavailable: 'retry',
  /** The artifact store can't be read or written; the message says which path and why. */
  StoreUnavailable: 'retry',
  /** A stored artifact has another shape than expected, or its address is none. */
  ArtifactCorrupt: 'stop',
  /** A stored artifact's hash does not fit. It may be restored. */
  ArtifactDamaged: 'park',
  /** A stored artifact is not in this worker's home: another home, or a lost disk. It may come back. */
  ArtifactMissing: 'park',
  /** A thread can't be read or written. The team continues without it and says so. */
  ThreadUnavailable: 'retry',
  /** A webhook or a command did not take a notification. No run depends on it. */
  NotificationFailed: 'retry',
  /**
   * A middleware or a guardrail threw three times, or gave an invalid result. Its kind and stage decide what follows.
   */
  MiddlewareFailed: 'stop',
  /** Three worker processes had to be ended because this work blocked their event loop. */
  Blocked: 'park',
  /** A fault of planwave itself. A repaired worker goes on after `resume`. */
  Internal: 'park',
} as const satisfies Record<string, FailureConsequence>;

export type FailureType = keyof typeof failureConsequences;

/** Carried in the `details` of a model failure, because Temporal drops every other property of an error. */
export interface ModelFailureDetails {
  readonly status: number | null;
  /** `error.type` of the API's error body. */
  readonly type: string | null;
  /** `error.details.error_code` of the API's error body, where there is one. */
  readonly error_code: string | null;
  readonly request_id: string | null;
  readonly model: string;
  /**
   * Usage of the failed call: a cut-off stream is billed up to there. Unreported when the call may have been billed
   * with an unknown amount. Null when nothing was billed.
   */
  readonly usage: Usage | null;
  /** Unix epoch milliseconds at which a run that was parked goes on by itself. Absent: after a resume. */
  readonly resume_at?: number;
  /** The prompt of a call that would have begun a conversation: nothing else names that artifact. */
  readonly prompt_ref?: Ref;
}
