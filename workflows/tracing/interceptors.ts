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
 * made without tracing did not replay. Each query of a watching client would begin a trace of its own.
 */
export function interceptors(): WorkflowInterceptors {
  const inbound = new OpenTelemetryInboundInterceptor();
  globalThis.planwaveRunInSpan = runInSpan;
  return {
    inbound: [{ execute: (input, next) => inbound.execute(input, next) }],
    outbound: [new OpenTelemetryOutboundInterceptor()],
    internals: [new OpenTelemetryInternalsInterceptor()],
  };
}
