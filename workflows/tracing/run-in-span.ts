import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import type { SpanEnd, SpanStart } from '../shared/in-span.ts';

/** Implements `RunInSpan`. The span is ended beside the work, not between the work and its caller. */
export function runInSpan<T>(
  { name, attributes }: SpanStart,
  work: () => Promise<T>,
  endOf: (result: T) => SpanEnd,
): Promise<T> {
  const span = trace.getTracer('planwave').startSpan(name, { attributes: { ...attributes } });
  const end = (how: SpanEnd): void => {
    span.setAttributes({ ...how.attributes });
    span.setStatus({ code: how.isFailure ? SpanStatusCode.ERROR : SpanStatusCode.OK });
    span.end();
  };
  const done = context.with(trace.setSpan(context.active(), span), work);
  void done.then(
    (result) => end(endOf(result)),
    () => end({ attributes: {}, isFailure: true }),
  );
  return done;
}
