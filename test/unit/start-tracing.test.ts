import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';
import { createRedactor } from '../../redaction/create-redactor.ts';
import { PlacingProcessor } from '../../worker/start-tracing.ts';

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
