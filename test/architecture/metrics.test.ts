import { allMetrics, metrics } from '../../core/metrics/metrics.ts';
import type { Metric } from '../../core/metrics/metrics.ts';
import { matchAll, read, sourceFiles } from './repository.ts';

/** Metrics have to be declared, counted, described and shown alike. */

const names = allMetrics.map(({ name }) => name);

function cell([name, values]: [string, Metric['labels'][string]]): string {
  return values === 'configured' ? `_${name}_` : `${name}: ${values.join(', ')}`;
}

function row({ name, type, unit, help, labels }: Metric): string {
  const cells = [`\`${name}\``, type, unit, help, Object.entries(labels).map(cell).join('; ')];
  return `| ${cells.join(' | ')} |`.replaceAll(/ +/g, ' ');
}

describe('docs/metrics.md', () => {
  const rows = read('docs/metrics.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.replaceAll(/ +/g, ' '));

  it('has a row for every metric with type, unit, help and labels, and no other', () => {
    // Cure: copy the rows that are missing from this message.
    expect(rows).toEqual(allMetrics.map(row));
  });

  it('speaks of no metric that does not exist', () => {
    const spoken = matchAll(read('docs/metrics.md'), /\b(planwave_[a-z_]+)/g);
    expect(spoken.filter((name) => !isSeries(name))).toEqual([]);
  });
});

/** A histogram is read by three names. */
function isSeries(name: string): boolean {
  return allMetrics.some((metric) =>
    metric.type === 'histogram'
      ? ['', '_bucket', '_sum', '_count'].some((suffix) => name === metric.name + suffix)
      : name === metric.name,
  );
}

it('every declared metric is recorded somewhere', () => {
  const code = sourceFiles
    .filter((path) => path !== 'core/metrics/metrics.ts')
    .map(read)
    .join('\n');
  const silent = Object.keys(metrics)
    .filter((key) => !new RegExp(`\\.(?:count|set|observe)\\(\\s*metrics\\.${key}\\b`).test(code))
    .map((key) => `${key} is recorded nowhere. Cure: record it, or remove its declaration`);
  expect(silent).toEqual([]);
});

describe('deploy/grafana/planwave.json', () => {
  interface Panel {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number };
    readonly targets: readonly { readonly expr: string; readonly datasource: { uid: string } }[];
  }
  interface Dashboard {
    readonly uid: string;
    readonly title: string;
    readonly templating: { readonly list: readonly { name: string; type: string }[] };
    readonly panels: readonly Panel[];
    readonly id?: number;
    readonly __inputs?: unknown;
  }
  const dashboard: Dashboard = JSON.parse(read('deploy/grafana/planwave.json'));
  const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

  it('queries only metrics that are declared, in the form that their type has', () => {
    const series = queries.flatMap((query) => matchAll(query, /\b(planwave_\w+)/g));
    const wrong = series.filter(
      (name) =>
        !isSeries(name) || allMetrics.some((m) => m.type === 'histogram' && m.name === name),
    );
    expect(wrong).toEqual([]);
  });

  it('shows every declared metric', () => {
    const shown = queries.join('\n');
    expect(names.filter((name) => !shown.includes(name))).toEqual([]);
  });

  it('names only labels, and values of labels, that the metric has', () => {
    const faults = queries.flatMap((query) =>
      allMetrics
        .filter(({ name }) => query.includes(name))
        .flatMap(({ name, labels }) => [
          ...matchAll(query, /sum by \(([^)]*)\)/g)
            .flatMap((list) => list.split(', '))
            .filter((label) => label !== 'le' && !(label in labels))
            .map((label) => `${name} has no label ${label}`),
          ...[...query.matchAll(/(\w+)=~?"([^"]*)"/g)].flatMap(([, label = '', list = '']) =>
            list
              .split('|')
              .filter((value) => !(labels[label] ?? []).includes(value))
              .map((value) => `${name} has no ${label}="${value}"`),
          ),
        ]),
    );
    expect(faults).toEqual([]);
  });

  it('can be provisioned: a fixed uid, no id of one Grafana, and its data source by a variable', () => {
    const { uid, id, __inputs, templating, panels } = dashboard;
    expect({ uid, id, inputs: __inputs }).toEqual({
      uid: 'planwave',
      id: undefined,
      inputs: undefined,
    });
    expect(templating.list).toContainEqual(
      expect.objectContaining({ name: 'datasource', type: 'datasource' }),
    );
    const sources = panels.flatMap(({ targets }) => targets.map((t) => t.datasource.uid));
    expect(new Set(sources)).toEqual(new Set(['${datasource}']));
    expect(new Set(panels.map((panel) => panel.id)).size).toBe(panels.length);
    expect(panels.filter(({ gridPos }) => gridPos.x + gridPos.w > 24)).toEqual([]);
  });
});
