import { headersWithContext } from '@temporalio/interceptors-opentelemetry/lib/instrumentation.js';
import {
  OpenTelemetryInboundInterceptor,
  OpenTelemetryInternalsInterceptor,
  OpenTelemetryOutboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/workflow/index.js';
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import type { SpanEnd, SpanStart } from '../shared/in-span.ts';

/**
 * Makes a span of each workflow and of its parts in `inSpan`, and passes the trace to its activities, its children and
 * its continuation. Included only in the bundle of a worker that traces.
 *
 * Messages are not intercepted: their interceptors put steps between a signal and its handler, and histories that were
 * made without tracing did not replay. Each query of a watching client would begin a trace of its own. The interceptors of
 * activities and children are not the library's, because those put steps between a result and who waits for it.
 */
export function interceptors(): WorkflowInterceptors {
  const inbound = new OpenTelemetryInboundInterceptor();
  const outbound = new OpenTelemetryOutboundInterceptor();
  globalThis.planwaveRunInSpan = runInSpan;
  return {
    inbound: [{ execute: (input, next) => inbound.execute(input, next) }],
    outbound: [
      {
        scheduleActivity: (input, next) =>
          spanOf(`StartActivity:${input.activityType}`, () =>
            next({ ...input, headers: headersWithContext(input.headers) }),
          ),
        startChildWorkflowExecution: (input, next) =>
          spanOf(`StartChildWorkflow:${input.workflowType}`, () =>
            next({ ...input, headers: headersWithContext(input.headers) }),
          ),
        continueAsNew: (input, next) => outbound.continueAsNew(input, next),
        getLogAttributes: (input, next) => outbound.getLogAttributes(input, next),
      },
    ],
    internals: [new OpenTelemetryInternalsInterceptor()],
  };
}

function spanOf<T>(name: string, work: () => Promise<T>): Promise<T> {
  return runInSpan({ name, attributes: {} }, work, () => ({ attributes: {}, isFailure: false }));
}

/** Implements `RunInSpan`. The span is ended beside the work, not between the work and its caller. */
function runInSpan<T>(
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
