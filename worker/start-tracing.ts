import { setTimeout as sleep } from 'node:timers/promises';
import { trace, type Attributes } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { envDetectorSync, Resource } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import type { Context } from '@temporalio/activity';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import {
  makeWorkflowExporter,
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryActivityOutboundInterceptor,
  OpenTelemetryWorkflowClientInterceptor,
  type OpenTelemetrySinks,
} from '@temporalio/interceptors-opentelemetry';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import { workOf } from '../activities/attempt/heartbeat.ts';
import { readPlace } from '../core/ids.ts';
import { definedOnly } from '../core/json.ts';
import { framesOf } from '../core/text/stack-frames.ts';
import type { Redactor } from '../redaction/create-redactor.ts';
import { traceUrlOf } from './part-settings.ts';
import { describeWork } from './work-place.ts';

/** Parts of a traced process that its worker or its client needs. */
export interface Tracing {
  readonly activityInterceptors: ActivityInterceptorsFactory;
  readonly sinks: InjectedSinks<OpenTelemetrySinks>;
  readonly clientInterceptors: readonly WorkflowClientInterceptor[];
  /** Sends the remaining spans. Never throws: an unreachable collector must not fail the work. */
  stop(): Promise<void>;
}

export interface TracingOptions {
  /** True with `PLANWAVE_KEYS`: messages of errors may quote content, which is encrypted everywhere else. Default false. */
  readonly hidesErrors?: boolean;
  /** Has the collector's address; the other variables are always those of the process. Default: that of the process. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Traces this process: spans go to the collector in `OTEL_EXPORTER_OTLP_ENDPOINT`, by OTLP over HTTP in JSON. The other
 * `OTEL_*` variables of the OpenTelemetry SDK apply too. Call it once per process.
 *
 * @param redactor Redacts for the collector, because spans contain the messages of errors.
 */
export function startTracing(
  redactor: Redactor,
  { hidesErrors = false, env = process.env }: TracingOptions = {},
): Tracing {
  // The SDK would read the address from the process, which a program's worker may not share.
  const exporter = new OTLPTraceExporter(definedOnly({ url: traceUrlOf(env) }));
  const resource = new Resource({ 'service.name': 'planwave' }).merge(envDetectorSync.detect());
  const processor = new PlacingProcessor(exporter, redactor, hidesErrors);
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  provider.register({ contextManager: new AsyncLocalStorageContextManager() });
  const start = new OpenTelemetryWorkflowClientInterceptor();
  return {
    activityInterceptors: (context) => {
      const inbound = new OpenTelemetryActivityInboundInterceptor(context);
      return {
        inbound: {
          execute: (input, next) =>
            inbound.execute(input, (call) => next(call).finally(() => describeAttempt(context))),
        },
        outbound: new OpenTelemetryActivityOutboundInterceptor(context),
      };
    },
    sinks: { exporter: makeWorkflowExporter(processor, resource) },
    // Watching a run sends many requests: only its start begins a trace.
    clientInterceptors: [
      { startWithDetails: (input, next) => start.startWithDetails(input, next) },
    ],
    stop: () =>
      Promise.race([
        provider.shutdown().catch(() => undefined),
        sleep(stopWithinMs, undefined, { ref: false }),
      ]),
  };
}

/** Milliseconds that an unresponsive collector may delay the end of a process. */
const stopWithinMs = 3_000;

/** Adds agent, task and result of its call to the span of an attempt. */
function describeAttempt(context: Context): void {
  const span = trace.getActiveSpan();
  const work = workOf(context);
  span?.setAttribute('planwave.attempt', context.info.attempt);
  if (work !== undefined) span?.setAttributes(describeWork(work));
}

/** Matches attributes that our own code sets. */
const own = /^(?:planwave|gen_ai|error)\./;

/** Attributes of the interceptors without texts of people, which memos and search attributes contain. */
const kept = new Set([
  'attempt',
  'run_id',
  'runId',
  'taskQueue',
  'temporalActivityId',
  'temporalWorkflowId',
  'workflowId',
  'workflowType',
]);

/** Destination of spans, for the count of redactions. */
const sink = 'trace';

/** Adds run, wave and delegation to each span, as the log does, and takes out what may not leave the process. */
export class PlacingProcessor extends BatchSpanProcessor {
  readonly #redactor: Redactor;
  readonly #hidesErrors: boolean;

  constructor(exporter: SpanExporter, redactor: Redactor, hidesErrors: boolean) {
    super(exporter);
    this.#redactor = redactor;
    this.#hidesErrors = hidesErrors;
  }

  override onEnd(span: ReadableSpan): void {
    const { events, status } = this.#hidesErrors ? hideMessages(span) : span;
    // A span has methods, which a copy would lose.
    const placed: ReadableSpan = Object.create(span, {
      attributes: { value: placeAttributes(span.attributes), enumerable: true },
      events: { value: this.#redactor.redactValue(events, sink), enumerable: true },
      status: { value: this.#redactor.redactValue(status, sink), enumerable: true },
    });
    super.onEnd(placed);
  }
}

/** Keeps the types of errors and the places in the code. */
function hideMessages({ events, status }: ReadableSpan): Pick<ReadableSpan, 'events' | 'status'> {
  return {
    status: { code: status.code },
    events: events.map(({ attributes, ...event }) => {
      const { 'exception.type': type, 'exception.stacktrace': stack } = attributes ?? {};
      const frames = typeof stack === 'string' ? framesOf(stack) : undefined;
      return { ...event, attributes: { 'exception.type': type, 'exception.stacktrace': frames } };
    }),
  };
}

function placeAttributes(attributes: Attributes): Attributes {
  const rest = Object.entries(attributes).filter(([name]) => kept.has(name) || own.test(name));
  const { workflowId, temporalWorkflowId, workflowType } = attributes;
  const id = workflowId ?? temporalWorkflowId;
  if (typeof id !== 'string') return Object.fromEntries(rest);
  const type = typeof workflowType === 'string' ? workflowType : null;
  const place = Object.entries(readPlace(id, type));
  return {
    ...Object.fromEntries(place.map(([name, value]) => [`planwave.${name}`, value])),
    ...Object.fromEntries(rest),
  };
}
