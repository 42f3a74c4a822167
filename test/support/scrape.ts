/** Page of metrics as Prometheus reads it. */
export interface MetricsPage {
  readonly text: string;
  /** Sums the series with this name and these labels; other labels do not matter. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
  /** Returns the counts of a name by the values of these labels, joined by a blank. */
  labels(name: string, labels: readonly string[]): Record<string, number>;
}

interface Series {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/** @throws when no page of metrics is returned. */
export async function scrape(url: string): Promise<MetricsPage> {
  const response = await fetch(url);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${text}`);
  const series = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(readSeries);
  const named = (name: string): Series[] => series.filter((one) => one.name === name);
  return {
    text,
    sum: (name, labels = {}) =>
      named(name)
        .filter((one) =>
          Object.entries(labels).every(([key, value]) => one.labels.get(key) === value),
        )
        .reduce((total, { value }) => total + value, 0),
    labels(name, labels) {
      const counts: Record<string, number> = {};
      for (const one of named(name)) {
        const key = labels.map((label) => one.labels.get(label) ?? '').join(' ');
        counts[key] = (counts[key] ?? 0) + one.value;
      }
      return counts;
    },
  };
}

function readSeries(line: string): Series {
  const [, name = '', list = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  const labels = [...list.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
    ([, label = '', content = '']): [string, string] => [label, content],
  );
  return { name, labels: new Map(labels), value: Number(value) };
}
