/**
 * Destination of a text from which a secret was removed:
 * - `reply`, `tool`, `middleware`: the result of a model, a tool or a middleware, before it is used
 * - `artifact`, `ledger`, `projection`: the three places on disk
 * - `thread`: the database of teams' threads
 * - `notification`: a message to a person, outside of planwave
 * - `history`: a payload to the Temporal server, such as an input, a result, a heartbeat or a view
 * - `failure`: the text of a failed attempt, which the server stores outside of payloads
 * - `progress`: the last words of a streaming reply
 * - `output`: the output of the process
 */
export type RedactionSink =
  | 'reply'
  | 'tool'
  | 'middleware'
  | 'artifact'
  | 'ledger'
  | 'projection'
  | 'thread'
  | 'notification'
  | 'history'
  | 'failure'
  | 'progress'
  | 'output';

/**
 * Takes secrets out of everything that is stored, sent and printed (seed 004 §11). The same text gives the same bytes
 * on every attempt, and a redacted text stays unchanged.
 */
export interface Redactor {
  /** Returns the text with a mark such as `[redacted:github]` in place of each secret. JSON stays JSON. */
  redactText(text: string, sink: RedactionSink): string;
  /** Returns the text like `redactText`, but JSON keeps its numbers, spaces and line breaks as they are written. */
  redactAsWritten(text: string, sink: RedactionSink): string;
  /**
   * Returns the lines of a text, redacted, each without its end. A secret of several lines has a mark in each of them, so
   * that their number stays.
   */
  redactLines(lines: readonly string[], sink: RedactionSink): readonly string[];
  /** Returns a JSON value with its strings redacted; the same value when there was nothing to redact. */
  redactValue<T>(value: T, sink: RedactionSink): T;
  /**
   * Returns the place in a growing text where a secret of several words has begun and not ended; the text's length when
   * there is none. Code that shows such a text must keep back its last word in any case.
   */
  findOpen(text: string): number;
}
