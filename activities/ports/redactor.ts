/**
 * Where a text was on its way to when a secret was taken out of it:
 * - `reply`, `tool`, `middleware`: what a model, a tool or a middleware gave, before anything is done with it
 * - `artifact`, `ledger`, `projection`: the three places that are written on disk
 * - `thread`: the database that keeps the threads of teams
 * - `history`: a payload to the Temporal server, such as an input, a result, a heartbeat or a view
 * - `failure`: the text of a failed attempt, which the server keeps beside the payloads
 * - `progress`: the last words of a reply that still streams
 * - `output`: what the process prints
 */
export type RedactionSink =
  | 'reply'
  | 'tool'
  | 'middleware'
  | 'artifact'
  | 'ledger'
  | 'projection'
  | 'thread'
  | 'history'
  | 'failure'
  | 'progress'
  | 'output';

/**
 * Takes secrets out of what is stored, sent and printed (seed 004 §11). The same text gives the same bytes on every
 * attempt, and a redacted text stays as it is.
 */
export interface Redactor {
  /** A text with a mark such as `[redacted:github]` in place of each secret. JSON stays JSON. */
  redactText(text: string, sink: RedactionSink): string;
  /** A JSON value with its strings redacted. The same value when there was nothing to take out. */
  redactValue<T>(value: T, sink: RedactionSink): T;
  /**
   * Where in a text that goes on a secret of several words has begun whose end is missing; the length of the text when
   * nowhere. Whoever shows such a text keeps back its last word in any case.
   */
  findOpen(text: string): number;
}
