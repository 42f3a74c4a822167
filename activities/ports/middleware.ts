/**
 * A named function for a team's texts on their way to its leader (`input`) and from it (`output`), from seed 002. A
 * middleware passes or changes a text; a guardrail may also stop it. `PLANWAVE_MIDDLEWARES` adds functions of the
 * worker's owner (docs/middlewares.md).
 */
export interface Middleware {
  /** Name that teams refer to: lower-case letters, digits, `-` and `_`, at most 40. */
  readonly name: string;
  readonly kind: MiddlewareKind;
  /** Stages at which it can be used; at least one. */
  readonly stages: readonly MiddlewareStage[];
  /**
   * Judges one text: at `input` the message; at `output` each of `compact_md` and `detailed_md`, one after the other.
   * It may be called again for the same text, because a worker can die. Its errors are reported with their messages.
   */
  apply(text: string, context: MiddlewareContext): Promise<Verdict> | Verdict;
}

export type MiddlewareKind = 'middleware' | 'guardrail';
export type MiddlewareStage = 'input' | 'output';

export interface MiddlewareContext {
  readonly stage: MiddlewareStage;
  readonly run_id: string;
  readonly delegation_id: string;
  /** Aborted when the work was cancelled, or took too long. */
  readonly signal: AbortSignal;
}

export type Verdict =
  /** `text` replaces the text; without it nothing changes. `note` is for people. */
  | {
      readonly type: 'pass';
      readonly text?: string | undefined;
      readonly note?: string | undefined;
    }
  /** Returned only by guardrails: the team ends with the reason. */
  | { readonly type: 'block'; readonly reason: string }
  /** Returned only by guardrails: the user decides whether the text may pass. */
  | { readonly type: 'ask'; readonly reason: string };

/** All middlewares and guardrails of this worker, by name. */
export type MiddlewareRegistry = ReadonlyMap<string, Middleware>;
