import type { StageName } from './names.ts';

/** Heartbeat details of a model call in flight, for live views. */
export interface TurnProgress {
  readonly agent_id: string;
  /** Defined in ModelTurnInput. */
  readonly delegation_id?: string;
  readonly stage: StageName;
  /** Number of the turn in its conversation, from 1. Absent until the conversation is read. */
  readonly turn?: number;
  readonly output_tokens: number;
  readonly last_words: string;
  /**
   * The text for people, without the JSON around it: `text` is its end, and `text_chars` counts all of it so far, so
   * that the next reader knows what is new. It only grows, except when an attempt begins anew. It has no secrets, and
   * lags a little behind the stream for that reason. Absent while there is none.
   */
  readonly text?: string;
  readonly text_chars?: number;
}
