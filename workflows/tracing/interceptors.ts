import { headersWithContext } from '@temporalio/interceptors-opentelemetry/lib/instrumentation.js';
import {
  OpenTelemetryInboundInterceptor,
  OpenTelemetryInternalsInterceptor,
  OpenTelemetryOutboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/workflow/index.js';
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { runInSpan } from './run-in-span.ts';

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
