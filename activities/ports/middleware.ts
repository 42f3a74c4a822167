/**
 * A named function that a team's texts pass on their way to its leader (`input`) and from it (`output`), as seed 002 asks
 * for. A middleware passes or changes a text; a guardrail may also stop it. Functions of a worker's owner come in by
 * `PLANWAVE_MIDDLEWARES` (docs/middlewares.md).
 */
export interface Middleware {
  /** How teams name it: lower-case letters, digits, `-` and `_`, at most 40. */
  readonly name: string;
  readonly kind: MiddlewareKind;
  /** Where it can be used; at least one. */
  readonly stages: readonly MiddlewareStage[];
  /**
   * Judges one text: of `input` the message; of `output` each of `compact_md` and `detailed_md`, one after the other. It
   * may be called again for the same text, because a worker can die. What it throws is reported with its message.
   */
  apply(text: string, context: MiddlewareContext): Promise<Verdict> | Verdict;
}

export type MiddlewareKind = 'middleware' | 'guardrail';
export type MiddlewareStage = 'input' | 'output';

export interface MiddlewareContext {
  readonly stage: MiddlewareStage;
  readonly run_id: string;
  readonly delegation_id: string;
  /** Aborted when the work was taken back, or took longer than it may. */
  readonly signal: AbortSignal;
}

export type Verdict =
  /** `text`: what stands in its place from now on; without it nothing changes. `note` is for people. */
  | {
      readonly type: 'pass';
      readonly text?: string | undefined;
      readonly note?: string | undefined;
    }
  /** Of guardrails alone: the team ends with the reason. */
  | { readonly type: 'block'; readonly reason: string }
  /** Of guardrails alone: the user is asked whether the text may pass. */
  | { readonly type: 'ask'; readonly reason: string };

/** Every middleware and guardrail of this worker, by name. */
export type MiddlewareRegistry = ReadonlyMap<string, Middleware>;
