/**
 * Sums up the cells of an evaluation: for each goal under each setting, and for each setting over all goals.
 *
 * Invariants:
 *   EU1. Every cell counts in exactly one row of a goal; a setting with several goals has a row of all of them besides.
 *   EU2. A cell that was not started counts among the cells, and neither in shares nor in medians.
 *   EU3. Cost and time are those of the runs, also where the result is from an earlier evaluation.
 */
import type { CellResult, Grade } from '../../contracts/evaluation.ts';
import { cleanLine } from '../text/cut-text.ts';

const parkedCharsMax = 300;

export interface SummaryRow {
  /** Null for all goals of the setting. */
  readonly goal: string | null;
  readonly setting: string;
  readonly cells: number;
  readonly cached: number;
  /** Cells that were not started. */
  readonly left_out: number;
  /** Share of passed cells; null when none ran. */
  readonly passed: Estimate | null;
  /** Medians over the cells that ran. Cost in millionths of a US dollar, where every price is known. */
  readonly cost_micro_usd: Estimate | null;
  readonly calls: Estimate | null;
  readonly seconds: Estimate | null;
  readonly graders: readonly GraderRow[];
}

interface GraderRow {
  readonly grader: string;
  readonly passed: Estimate;
  /** Median of its scores; null where it gives none. */
  readonly score: Estimate | null;
}

/** Cells that have a row. */
interface CellGroup extends Pick<SummaryRow, 'goal' | 'setting'> {
  readonly of: readonly CellResult[];
}

export function summariseCells(cells: readonly CellResult[]): SummaryRow[] {
  return groupCells(cells).map(summarise);
}

function groupCells(cells: readonly CellResult[]): CellGroup[] {
  const settings = distinct(cells.map(({ setting }) => setting));
  return settings.flatMap((setting) => {
    const under = cells.filter((one) => one.setting === setting);
    const goals = distinct(under.map(({ goal }) => goal));
    const ofGoals = goals.map((goal) => ({
      goal,
      setting,
      of: under.filter((one) => one.goal === goal),
    }));
    return goals.length === 1 ? ofGoals : [...ofGoals, { goal: null, setting, of: under }];
  });
}

/** Returns false for a cell that was not started. */
export function hasRun({ status }: Pick<CellResult, 'status'>): boolean {
  return status !== 'no_budget' && status !== 'not_started';
}

function listRan(cells: readonly CellResult[]): CellResult[] {
  return cells.filter(hasRun);
}

function estimatePassed(ran: readonly CellResult[]): Estimate | null {
  if (ran.length === 0) return null;
  return estimateShare(ran.filter((one) => one.passed).length, ran.length);
}

function summarise({ of: cells, ...place }: CellGroup): SummaryRow {
  const ran = listRan(cells);
  const priced = ran.every(({ usage }) => usage.unpriced_calls === 0);
  const grades = ran.flatMap((one) => one.grades);
  return {
    ...place,
    cells: cells.length,
    cached: cells.filter(({ cached }) => cached).length,
    left_out: cells.length - ran.length,
    passed: estimatePassed(ran),
    cost_micro_usd: priced ? estimateMedian(ran.map(({ usage }) => usage.cost_micro_usd)) : null,
    calls: estimateMedian(ran.map(({ usage }) => usage.calls)),
    seconds: estimateMedian(ran.map(({ seconds }) => seconds)),
    graders: distinct(grades.map(({ grader }) => grader)).map((grader) =>
      summariseGrader(
        grader,
        grades.filter((one) => one.grader === grader),
      ),
    ),
  };
}

function summariseGrader(grader: string, grades: readonly Grade[]): GraderRow {
  const passed = grades.filter(({ result }) => result === 'passed').length;
  return {
    grader,
    passed: estimateShare(passed, grades.length),
    score: estimateMedian(grades.flatMap(({ score }) => score ?? [])),
  };
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)];
}

/** Returns true when the cell passes: its run completed, and every grader passed it. */
export function isPassed({ status, grades }: Pick<CellResult, 'status' | 'grades'>): boolean {
  return status === 'completed' && grades.every(({ result }) => result === 'passed');
}

/**
 * Describes an evaluation at work in Markdown, for the Web UI; the first line also for the terminal. Workflow code: it computes
 * no medians, which take long.
 *
 * @param parked Why a cell waits for a resume; null when none does.
 */
export function describeProgress(
  name: string,
  done: readonly CellResult[],
  waiting: number,
  parked: string | null,
): string {
  const passed = done.filter((one) => one.passed).length;
  const cached = done.filter((one) => one.cached).length;
  const standing = parked === null ? '' : `, parked: ${cleanLine(parked, parkedCharsMax)}`;
  const rows = groupCells(done).map(
    ({ goal, setting, of }) =>
      `| ${goal ?? 'all goals'} | ${setting} | ${of.length} | ${formatShare(estimatePassed(listRan(of)))} |`,
  );
  return [
    `**${name}**: ${done.length} cells done (${cached} from before), ${passed} passed, ${waiting} to start${standing}`,
    '',
    '| goal | setting | cells | passed |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** `83% (44–97)`; a dash where nothing ran. */
export function formatShare(share: Estimate | null): string {
  if (share === null) return '–';
  const { value, low, high } = share;
  const interval = low === null || high === null ? '' : ` (${percent(low)}–${percent(high)})`;
  return `${percent(value)}%${interval}`;
}

/** `1.5 (1–2)`, with the units of `format`; a dash where there is none. */
export function formatEstimate(
  estimate: Estimate | null,
  format: (value: number) => string,
): string {
  if (estimate === null) return '–';
  const { value, low, high } = estimate;
  if (low === null || high === null || low === high) return format(value);
  return `${format(value)} (${format(low)}–${format(high)})`;
}

function percent(share: number): string {
  return (share * 100).toFixed(0);
}

/**
 * Estimates shares and medians from few observations, with 95% intervals.
 *
 * Invariants:
 *   ES1. The interval of a share is Wilson's: it lies between 0 and 1, contains the observed share, and is never a single
 *        point, not even where all or none passed.
 *   ES2. The interval of a median is the percentile bootstrap of 2,000 samples: it contains the median and lies within the
 *        observations. With fewer than three observations there is none.
 *   ES3. The same observations give the same numbers on every machine.
 */

/** Estimate with its 95% interval. */
interface Estimate {
  readonly value: number;
  /** Null where there are too few observations. */
  readonly low: number | null;
  readonly high: number | null;
}

/** Quantile of the normal distribution at 97.5%. */
const z = 1.959_964;

/** @param of At least 1. */
export function estimateShare(passed: number, of: number): Estimate {
  const value = passed / of;
  const square = z * z;
  const middle = (value + square / (2 * of)) / (1 + square / of);
  const reach =
    (z * Math.sqrt((value * (1 - value)) / of + square / (4 * of * of))) / (1 + square / of);
  return {
    value,
    low: Math.max(0, Math.min(value, middle - reach)),
    high: Math.min(1, Math.max(value, middle + reach)),
  };
}

const samples = 2_000;
const observationsMin = 3;

/** @returns null without observations. */
export function estimateMedian(observations: readonly number[]): Estimate | null {
  const value = medianOf(observations);
  if (value === null) return null;
  if (observations.length < observationsMin) return { value, low: null, high: null };
  const random = createRandom(observations.length);
  const medians = Array.from({ length: samples }, () => {
    const drawn = observations.map(
      () => observations[Math.floor(random() * observations.length)] ?? value,
    );
    return medianOf(drawn) ?? value;
  }).toSorted((a, b) => a - b);
  const low = medians[Math.floor(samples * 0.025)] ?? value;
  const high = medians[Math.ceil(samples * 0.975) - 1] ?? value;
  return { value, low: Math.min(low, value), high: Math.max(high, value) };
}

function medianOf(observations: readonly number[]): number | null {
  const sorted = observations.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  return upper === undefined || lower === undefined ? null : (lower + upper) / 2;
}

/** Creates repeatable numbers in [0, 1): Mulberry32 by Tommy Ettinger, with 32 bits of state. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
