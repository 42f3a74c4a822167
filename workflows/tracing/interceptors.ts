import {
  OpenTelemetryInboundInterceptor,
  OpenTelemetryInternalsInterceptor,
  OpenTelemetryOutboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/workflow/index.js';
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { runInSpan } from './run-in-span.ts';

/**
 * Makes a span of each workflow and of what it does `inSpan`, and hands the trace to its activities, its children and its
 * continuation. Only in the bundle of a worker that traces.
 *
 * Messages are left alone: their interceptors put steps between a signal and its handler, and histories that were made
 * without tracing did not replay. A query, asked by whoever watches, would begin a trace of its own each time.
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
