/** Ids, enums and counts, by the names of OpenTelemetry's conventions or with the prefix `planwave.`. No text of anybody. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

export interface SpanStart {
  readonly name: string;
  readonly attributes: SpanAttributes;
}

export interface SpanEnd {
  readonly attributes: SpanAttributes;
  readonly isFailure: boolean;
}

/** Does the work in a span of its own, which is above the spans of all that the work calls. */
export type RunInSpan = <T>(
  start: SpanStart,
  work: () => Promise<T>,
  endOf: (result: T) => SpanEnd,
) => Promise<T>;

declare global {
  /** Put there by the interceptors of a traced bundle. Each workflow has globals of its own. */
  var planwaveRunInSpan: RunInSpan | undefined;
}

/**
 * Does the work, in a span where the worker traces. Either way the promise is the work's own: a step between it and who
 * waits for it would be felt by replay.
 */
export function inSpan<T>(
  start: SpanStart,
  work: () => Promise<T>,
  endOf: (result: T) => SpanEnd,
): Promise<T> {
  const { planwaveRunInSpan: run } = globalThis;
  return run === undefined ? work() : run(start, work, endOf);
}
