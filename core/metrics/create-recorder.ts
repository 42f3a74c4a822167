import type { CounterMetric, GaugeMetric, HistogramMetric, LabelsOf } from './metrics.ts';

/**
 * Part of the SDK's meters that planwave needs. Workflows have a meter that is silent on replay, the process has
 * another. An instrument is created for each value: workflow code must not keep anything in a module, and creating one
 * costs microseconds.
 */
export interface Meter {
  createCounter(name: string, unit: string, help: string): { add(value: number, tags: Tags): void };
  createGauge(
    name: string,
    valueType: 'float',
    unit: string,
    help: string,
  ): { set(value: number, tags: Tags): void };
  createHistogram(
    name: string,
    valueType: 'float',
    unit: string,
    help: string,
  ): { record(value: number, tags: Tags): void };
}

type Tags = Record<string, string>;

/** Records values of declared metrics, with all labels that each was declared with. */
export interface Recorder {
  /** Adds a whole number. 0 makes the series visible. */
  count<M extends CounterMetric>(metric: M, labels: LabelsOf<M>, value?: number): void;
  set<M extends GaugeMetric>(metric: M, labels: LabelsOf<M>, value: number): void;
  observe<M extends HistogramMetric>(metric: M, labels: LabelsOf<M>, value: number): void;
}

/**
 * Creates instruments without a unit, because the name already contains it and an exporter would add it again.
 *
 * Invariants:
 *   MR1. A value that no meter accepts, such as a negative one, is recorded as 0: counting never fails the work.
 */
export function createRecorder(meter: Meter): Recorder {
  return {
    count: ({ name, help }, labels, value = 1) =>
      meter.createCounter(name, '', help).add(Math.trunc(sane(value)), { ...labels }),
    set: ({ name, help }, labels, value) =>
      meter.createGauge(name, 'float', '', help).set(sane(value), { ...labels }),
    observe: ({ name, help }, labels, value) =>
      meter.createHistogram(name, 'float', '', help).record(sane(value), { ...labels }),
  };
}

/** Replaces invalid values by 0. A clock that was set back makes a negative difference. */
function sane(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}
