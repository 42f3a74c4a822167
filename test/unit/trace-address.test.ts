import { trace } from '@opentelemetry/api';
import { createRedactor } from '../../redaction/create-redactor.ts';
import { traceUrlOf } from '../../worker/part-settings.ts';
import { startTracing } from '../../worker/start-tracing.ts';
import { startOtlpReceiver } from '../support/traces.ts';

it('sends spans to the collector of the given environment, which need not be that of the process', async () => {
  const receiver = await startOtlpReceiver();
  try {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
    const tracing = startTracing(createRedactor({ secrets: [] }), env);
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
