import { createRecorder } from '../../core/metrics/create-recorder.ts';
import { createRedactionCounter } from '../../worker/create-logger.ts';
import { createMemoryMeter } from '../support/memory-meter.ts';

it('counts what was taken out, by rule and place', () => {
  const meter = createMemoryMeter();
  const onRedacted = createRedactionCounter(createRecorder(meter));
  onRedacted('github-token', 'artifact', 2);
  onRedacted('github-token', 'log', 1);
  expect(meter.total('planwave_redactions_total', { rule: 'github-token' })).toBe(3);
  expect(meter.total('planwave_redactions_total', { sink: 'log' })).toBe(1);
});
