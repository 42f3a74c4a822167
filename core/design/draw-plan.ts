/**
 * Draws a plan as SVG: a row for each step, arrows from a task to those that depend on it.
 *
 * Invariants:
 *   SV1. The picture is complete in itself: it loads nothing, and no text of the plan becomes markup.
 *   SV2. Each task has a box, each dependency on a task of the plan an arrow, and no two boxes overlap.
 *   SV3. The same plan is drawn in the same bytes.
 */
import type { CoordinationPlan, PlanTask } from '../../contracts/coordination-plan.ts';
import { cleanLine, cutText } from '../text/cut-text.ts';
import { listLayers } from './graph.ts';

const box = { width: 220, height: 72 };
const gap = { x: 32, y: 56 };
/** Width that an arrow needs where it passes a row. */
const lane = 16;
const margin = 24;
/** Characters of a line in a box at its font. */
const lineChars = 30;

/** A task in its row, or the place where an arrow passes a row. */
interface Spot {
  readonly key: string;
  readonly row: number;
  readonly task: PlanTask | null;
}

/** An arrow between two rows that follow one another. */
interface Link {
  readonly from: string;
  readonly to: string;
}

export function drawSvg(plan: CoordinationPlan): string {
  const { rows, arrows } = placeSpots(plan.tasks);
  const links = arrows.flatMap((path) =>
    path.slice(1).map((to, at): Link => ({ from: path[at] ?? to, to })),
  );
  const ordered = orderRows(rows, links);
  const widths = ordered.map((row) => sum(row.map(widthOf)) + gap.x * Math.max(0, row.length - 1));
  const width = Math.max(box.width, ...widths) + 2 * margin;
  const height = ordered.length * (box.height + gap.y) - gap.y + 2 * margin;
  const centres = new Map(ordered.flatMap((row, at) => centreRow(row, widths[at] ?? 0, width)));
  const spots = ordered.flat();
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif">`,
    `<title>${xmlText(plan.task_name, 200)}</title>`,
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#57606a"/></marker></defs>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...arrows.map((path) => drawArrow(path, spots, centres)),
    ...spots.flatMap(({ task, key, row }) =>
      task === null ? [] : [drawBox(task, centres.get(key) ?? 0, topOf(row))],
    ),
    '</svg>',
    '',
  ].join('\n');
}

/** Puts tasks into rows and reserves a place for each arrow in every row that it passes. */
function placeSpots(tasks: readonly PlanTask[]): {
  readonly rows: Spot[][];
  readonly arrows: readonly (readonly string[])[];
} {
  const rows = listLayers(tasks).map((layer, row) =>
    layer.map((task): Spot => ({ key: task.task_id, row, task })),
  );
  const rowOf = new Map(rows.flat().map(({ key, row }) => [key, row]));
  const arrows = tasks.flatMap(({ task_id, depends_on }) =>
    [...new Set(depends_on)].flatMap((from) => {
      const start = rowOf.get(from);
      const end = rowOf.get(task_id);
      if (start === undefined || end === undefined || from === task_id) return [];
      const passed: Spot[] = [];
      for (let row = start + 1; row < end; row += 1) {
        passed.push({ key: `${from} ${task_id} ${row}`, row, task: null });
      }
      for (const spot of passed) rows[spot.row]?.push(spot);
      return [[from, ...passed.map(({ key }) => key), task_id]];
    }),
  );
  return { rows, arrows };
}

/** Moves each spot below the middle of what leads to it, and then above the middle of what it leads to. */
function orderRows(rows: readonly (readonly Spot[])[], links: readonly Link[]): Spot[][] {
  const ordered = rows.map((row) => [...row]);
  const sweep = (row: Spot[], beside: readonly Spot[], side: 'from' | 'to'): Spot[] => {
    const other = side === 'from' ? 'to' : 'from';
    const position = new Map(beside.map(({ key }, at) => [key, at]));
    const middleOf = ({ key }: Spot, at: number): number => {
      const linked = links
        .filter((link) => link[other] === key)
        .flatMap((link) => position.get(link[side]) ?? []);
      return linked.length === 0 ? at : sum(linked) / linked.length;
    };
    const ranked = row.map((spot, at) => ({ spot, at, rank: middleOf(spot, at) }));
    return ranked.toSorted((a, b) => a.rank - b.rank || a.at - b.at).map(({ spot }) => spot);
  };
  for (let round = 0; round < 2; round += 1) {
    for (let row = 1; row < ordered.length; row += 1) {
      ordered[row] = sweep(ordered[row] ?? [], ordered[row - 1] ?? [], 'from');
    }
    for (let row = ordered.length - 2; row >= 0; row -= 1) {
      ordered[row] = sweep(ordered[row] ?? [], ordered[row + 1] ?? [], 'to');
    }
  }
  return ordered;
}

function centreRow(row: readonly Spot[], rowWidth: number, width: number): [string, number][] {
  let left = (width - rowWidth) / 2;
  return row.map((spot) => {
    const centre = left + widthOf(spot) / 2;
    left += widthOf(spot) + gap.x;
    return [spot.key, centre];
  });
}

function widthOf({ task }: Spot): number {
  return task === null ? lane : box.width;
}

function topOf(row: number): number {
  return margin + row * (box.height + gap.y);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** Draws an arrow from the lower edge of a box, straight through the rows that it passes, to the upper edge of another. */
function drawArrow(
  path: readonly string[],
  spots: readonly Spot[],
  centres: ReadonlyMap<string, number>,
): string {
  const rowOf = (key: string): number => spots.find((spot) => spot.key === key)?.row ?? 0;
  const [first = '', ...others] = path;
  const last = others.at(-1);
  let x = centres.get(first) ?? 0;
  let y = topOf(rowOf(first)) + box.height;
  let line = `M${x} ${y}`;
  for (const key of others) {
    const nextX = centres.get(key) ?? 0;
    const nextY = topOf(rowOf(key));
    const middle = (y + nextY) / 2;
    line += ` C${x} ${middle} ${nextX} ${middle} ${nextX} ${nextY}`;
    if (key !== last) line += ` V${nextY + box.height}`;
    [x, y] = [nextX, nextY + box.height];
  }
  return `<path d="${line}" fill="none" stroke="#57606a" stroke-width="1.5" marker-end="url(#arrow)"/>`;
}

function drawBox(task: PlanTask, centre: number, top: number): string {
  const left = centre - box.width / 2;
  const look =
    task.proof_of_concept === null
      ? 'fill="#f6f8fa" stroke="#57606a"'
      : 'fill="#fff8c5" stroke="#9a6700" stroke-dasharray="5 3"';
  const lines = wrapTitle(task.title);
  const texts = lines.map(
    (line, at) =>
      `<text x="${centre}" y="${top + 22 + at * 17}" text-anchor="middle" font-size="13" fill="#1f2328">${xmlText(line, lineChars)}</text>`,
  );
  return [
    `<g><title>${xmlText(`${task.task_id}: ${task.title}`, 200)}</title>`,
    `<rect x="${left}" y="${top}" width="${box.width}" height="${box.height}" rx="6" ${look}/>`,
    ...texts,
    `<text x="${centre}" y="${top + 60}" text-anchor="middle" font-size="11" fill="#57606a">${xmlText(task.agent, lineChars)}</text></g>`,
  ].join('');
}

/** Breaks a title into two lines at most. */
function wrapTitle(title: string): string[] {
  const text = cleanLine(title, 200);
  if (text.length <= lineChars) return [text];
  const blank = text.lastIndexOf(' ', lineChars);
  const end = blank > 0 ? blank : lineChars;
  return [text.slice(0, end), cutText(text.slice(end).trim(), lineChars)];
}

function xmlText(text: string, maxChars: number): string {
  return cleanLine(text, maxChars)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
