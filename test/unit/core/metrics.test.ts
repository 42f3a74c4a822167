import { failureConsequences } from '../../../contracts/errors.ts';
import { createRecorder } from '../../../core/metrics/create-recorder.ts';
import { allMetrics, metrics } from '../../../core/metrics/metrics.ts';
import { failureReasons, reasonOfCall } from '../../../core/turns/turns-state.ts';
import { createMemoryMeter } from '../../support/memory-meter.ts';

it.each(allMetrics)('MT1: $name follows the conventions of Prometheus', (metric) => {
  const { name, type, unit, help } = metric;
  expect(name).toMatch(/^planwave_[a-z]+(?:_[a-z]+)*$/);
  expect(name.endsWith('_total')).toBe(type === 'counter');
  expect(name.endsWith(unit)).toBe(true);
  expect(name).not.toMatch(/_(?:ms|milliseconds|minutes|hours|count|sum|bucket)$/);
  expect(help).toMatch(/^[A-Z].*\.$/);
  const buckets = metric.type === 'histogram' ? metric.buckets : [1];
  expect(buckets).toEqual([...new Set(buckets)].toSorted((a, b) => a - b));
  expect(buckets.length).toBeGreaterThan(0);
});

it('MT1: no two metrics have one name', () => {
  expect(new Set(allMetrics.map(({ name }) => name)).size).toBe(allMetrics.length);
});

it.each(allMetrics)(
  'MT2: the labels of $name are short lists or names of the configuration',
  (metric) => {
    for (const [label, values] of Object.entries(metric.labels)) {
      expect(label).toMatch(/^[a-z]+$/);
      expect(label).not.toMatch(/^(?:run|id|text|message|path)$/);
      if (values === 'configured') continue;
      expect(values.length).toBeGreaterThan(1);
      expect(values.filter((value) => !/^[A-Za-z_]+$/.test(value))).toEqual([]);
    }
  },
);

it('FR1: the failure of a call has a reason, also one of a type that nobody knows', () => {
  const types = [...Object.keys(failureConsequences), 'Timeout', 'constructor', ''];
  const reasons = types.map((type) => [type, reasonOfCall(type)]);
  expect(Object.fromEntries(reasons)).toMatchObject({
    ModelRequest: 'request_refused',
    ModelProtocol: 'no_message',
    ArtifactCorrupt: 'artifact_corrupt',
    Timeout: 'other',
    constructor: 'other',
  });
  expect(reasons.filter(([, reason]) => !failureReasons.some((known) => known === reason))).toEqual(
    [],
  );
});

describe('a recorder', () => {
  it('records with the name and all labels of the declaration', () => {
    const meter = createMemoryMeter();
    const recorder = createRecorder(meter);
    recorder.count(metrics.tokens, { model: 'm', kind: 'input' }, 3);
    recorder.count(metrics.tokens, { model: 'm', kind: 'input' });
    recorder.observe(metrics.waveDuration, { status: 'decided' }, 1.5);
    recorder.set(metrics.openQuestions, {}, 2);
    expect(meter.total('planwave_tokens_total', { model: 'm', kind: 'input' })).toBe(4);
    expect(meter.values()).toEqual([
      {
        type: 'counter',
        name: 'planwave_tokens_total',
        labels: { model: 'm', kind: 'input' },
        value: 3,
      },
      {
        type: 'counter',
        name: 'planwave_tokens_total',
        labels: { model: 'm', kind: 'input' },
        value: 1,
      },
      {
        type: 'histogram',
        name: 'planwave_wave_duration_seconds',
        labels: { status: 'decided' },
        value: 1.5,
      },
      { type: 'gauge', name: 'planwave_open_questions', labels: {}, value: 2 },
    ]);
  });

  it.each([-1, Number.NaN, Infinity])('MR1: takes %d, which no meter does, as 0', (value) => {
    const meter = createMemoryMeter();
    const recorder = createRecorder(meter);
    recorder.count(metrics.tokens, { model: 'm', kind: 'input' }, value);
    recorder.observe(metrics.gateWait, {}, value);
    recorder.set(metrics.openQuestions, {}, value);
    expect(meter.values().map((recorded) => recorded.value)).toEqual([0, 0, 0]);
  });
});
