import type { Meter } from '../../core/metrics/create-recorder.ts';

interface Recorded {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Meter that remembers every value. */
export interface MemoryMeter extends Meter {
  values(): readonly Recorded[];
  /** Sums the values with this name and these labels; other labels do not matter. */
  total(name: string, labels?: Readonly<Record<string, string>>): number;
}

export function createMemoryMeter(): MemoryMeter {
  const recorded: Recorded[] = [];
  const noteAs =
    (type: Recorded['type'], name: string) =>
    (value: number, labels: Readonly<Record<string, string>>): void => {
      recorded.push({ type, name, labels, value });
    };
  return {
    createCounter: (name) => ({ add: noteAs('counter', name) }),
    createGauge: (name) => ({ set: noteAs('gauge', name) }),
    createHistogram: (name) => ({ record: noteAs('histogram', name) }),
    values: () => recorded,
    total: (name, labels = {}) =>
      recorded
        .filter((one) => one.name === name)
        .filter((one) => Object.entries(labels).every(([key, value]) => one.labels[key] === value))
        .reduce((sum, one) => sum + one.value, 0),
  };
}
