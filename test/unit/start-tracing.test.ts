import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';
import { createRedactor } from '../../redaction/create-redactor.ts';
import { traceUrlOf } from '../../worker/part-settings.ts';
import { PlacingProcessor, startTracing } from '../../worker/start-tracing.ts';
import { startOtlpReceiver } from '../support/traces.ts';

/** Returns the span of an activity that failed, as the collector gets it. */
async function sendFailed(hidesErrors: boolean): Promise<ReadableSpan | undefined> {
  const exporter = new InMemorySpanExporter();
  const redactor = createRedactor({ secrets: ['sk-planted-key'] });
  const processor = new PlacingProcessor(exporter, redactor, hidesErrors);
  const provider = new BasicTracerProvider({ spanProcessors: [processor] });
  const span = provider.getTracer('test').startSpan('RunActivity:modelTurn');
  const error = new TypeError('about the tower\n    of the town, by sk-planted-key');
  span.recordException(error);
  span.setStatus({ code: 2, message: error.message });
  span.end();
  await provider.forceFlush();
  return exporter.getFinishedSpans()[0];
}

it('a span of what failed has the message without secrets; with keys only the type of the error and its places', async () => {
  const shown = await sendFailed(false);
  expect(shown?.status.message).toContain('the tower');
  expect(JSON.stringify([shown?.status, shown?.events])).not.toContain('sk-planted-key');
  const hidden = await sendFailed(true);
  expect(hidden?.status).toEqual({ code: 2 });
  expect(hidden?.events).toEqual([
    expect.objectContaining({
      name: 'exception',
      attributes: {
        'exception.type': 'TypeError',
        'exception.stacktrace': expect.stringMatching(/^ +at /),
      },
    }),
  ]);
  expect(JSON.stringify(hidden?.events)).not.toMatch(/tower|town/);
});

it('sends spans to the collector of the given environment, which need not be that of the process', async () => {
  const receiver = await startOtlpReceiver();
  try {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
    const tracing = startTracing(createRedactor({ secrets: [] }), { env });
    trace.getTracer('test').startSpan('a span').end();
    await tracing.stop();
    expect(receiver.spans().map(({ name }) => name)).toEqual(['a span']);
  } finally {
    await receiver.close();
  }
});

it('composes the address as the SDK does', () => {
  const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/in' };
  expect(
    [{}, own, base, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a/b/' }, { ...base, ...own }].map(
      traceUrlOf,
    ),
  ).toEqual([
    undefined,
    undefined,
    'http://collector:4318/v1/traces',
    'http://a/b/v1/traces',
    'http://traces:4318/in',
  ]);
});
