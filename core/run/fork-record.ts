/**
 * Makes the first record of a run that goes on from another one: a fork.
 *
 * Invariants:
 *   GO1. A fork knows everything that the other run knew before the wave was planned, and nothing of what came later.
 *   GO2. What the other run paid is not the fork's use: it stands in its origin.
 *   GO3. Open questions, notes of sessions and effects that are not certain stay with the other run: nobody in the fork
 *        waits for them. What the fork has to know itself is asked anew (GO6 of `crashed-tasks`).
 *   GO4. A run can be forked only where all earlier waves have ended, and where their results are in the store.
 *   GO5. A fork begins with the files of the other run's own folder as they are then: no version of them is kept, so what
 *        later waves changed is among them.
 */
import type { RunEvent } from '../../contracts/run-log.ts';
import type {
  RunOrigin,
  RunRecord,
  StoredWave,
  RecordedCriterion,
} from '../../contracts/run-record.ts';
import type { Usage } from '../../contracts/usage.ts';
import { addUsage, noUsage } from '../usage/add-usage.ts';
import {
  commandText,
  formatCost,
  formatDuration,
  formatTokens,
  formatUsage,
} from '../text/format.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import { countCriteria } from '../design/judge-design.ts';
import type { Judged } from '../design/judge-design.ts';

/** Returns true for an event of the wave or after it, which a fork before the wave does not take over. */
export function isAfterFork(event: RunEvent, wave: number): boolean {
  if (event.type === 'wave_planned') return event.progress.wave >= wave;
  if (event.type === 'wave_done') return event.wave.wave >= wave;
  if (event.type === 'wave_lost') return event.wave >= wave;
  return event.type === 'changes_settled' || event.type === 'ended';
}

/**
 * Explains why a run can't be forked before a wave, with what to do instead.
 *
 * @param before The record before the wave.
 * @param newest The newest record.
 * @returns null when it can.
 */
export function explainNoFork(before: RunRecord, newest: RunRecord, wave: number): string | null {
  const { run_id, origin } = newest;
  if (origin !== undefined && wave < origin.wave) {
    const there = commandText('fork', origin.run_id, '--wave', String(wave));
    return `${run_id} took wave ${wave} over from ${origin.run_id}. Try: ${there}`;
  }
  return explainNoWave(newest, wave) ?? explainCopies(before, newest, wave);
}

function explainNoWave({ run_id, waves }: RunRecord, wave: number): string | null {
  const ended = waves.filter(({ done_at }) => done_at !== null).length;
  if (ended >= wave - 1) return null;
  if (waves.length >= wave - 1) {
    return `Wave ${wave - 1} of ${run_id} is still at work. Try: wait for its end (${commandText('watch', run_id)})`;
  }
  const cure =
    ended === 0
      ? 'wait until its first wave has ended'
      : commandText('fork', run_id, '--wave', String(ended + 1));
  return `${run_id} has no wave ${wave}: ${ended} of its waves have ended. Try: ${cure}`;
}

function explainCopies(before: RunRecord, newest: RunRecord, wave: number): string | null {
  const isInCopies = newest.workspace_dir !== undefined && newest.changes !== 'direct';
  const { state = 'kept' } = newest.settled_changes ?? {};
  const isApplied = state !== 'kept' && wave > newest.waves.length;
  if (isInCopies && !isApplied && (before.effects ?? []).some(isCertain)) {
    return (
      `The waves before wave ${wave} changed files in copies of the folder that only ${newest.run_id} has. ` +
      `Try: ${commandText('apply', newest.run_id)} and a new run`
    );
  }
  return null;
}

function isCertain({ state }: NonNullable<RunRecord['effects']>[number]): boolean {
  return state === 'confirmed';
}

/** Returns what the waves before a fork have used, in the run and in those that it went on from. */
export function sumReused({ waves, design, origin }: RunRecord): Usage {
  return addUsage(
    origin?.reused ?? noUsage,
    design?.usage ?? noUsage,
    ...waves.map(({ usage }) => usage),
  );
}

/**
 * @param before The record of the other run before the wave.
 * @param first The record with which the run would begin from nothing.
 */
export function forkRecord(before: RunRecord, first: RunRecord, wave: number): RunRecord {
  const { instructions, details, facts, consumptions, stale, answered_questions } = before;
  const { design, mode, effects = [] } = before;
  const origin: RunOrigin = { run_id: before.run_id, wave, reused: sumReused(before) };
  const known = new Set(before.criteria.map(({ criterion_id }) => criterion_id));
  const certain = effects.filter(isCertain);
  return {
    ...first,
    origin,
    instructions,
    waves: before.waves.map(withoutUsage),
    criteria: [
      ...before.criteria,
      ...first.criteria.filter(({ criterion_id }) => !known.has(criterion_id)),
    ],
    details,
    facts,
    consumptions,
    stale,
    answered_questions,
    ...(certain.length > 0 && { effects: certain }),
    ...(mode !== undefined && { mode }),
    ...(design !== undefined && { design: { ...design, usage: noUsage } }),
  };
}

function withoutUsage(wave: StoredWave): StoredWave {
  const outcomes = wave.outcomes.map((outcome) => ({ ...outcome, usage: noUsage }));
  return { ...wave, outcomes, usage: noUsage };
}

/**
 * Compares two runs: what each has used, reached and planned.
 *
 * Invariants:
 *   TB1. Each fact of both runs stands in one row, and no run is judged by what the other was not asked to do: a criterion
 *        that only one of them has is shown as missing in the other, not as unmet.
 */

export interface ComparedRun
  extends Judged, Pick<RunRecord, 'run_id' | 'status' | 'started_at' | 'updated_at'> {
  readonly criteria: readonly Pick<
    RecordedCriterion,
    'criterion_id' | 'description' | 'state' | 'delegation_id'
  >[];
  /** The plans of its waves, a line for each delegation. */
  readonly plan: readonly string[];
  /** Markdown. While the run goes on, the newest that is known. */
  readonly answer: string;
}

/** Puts what two runs have used and reached beside each other, one fact a row, the first with their ids. */
export function compareFigures(runs: readonly ComparedRun[]): string[][] {
  const row = (name: string, tell: (run: ComparedRun) => string): string[] => [
    name,
    ...runs.map(tell),
  ];
  return [
    row('', ({ run_id }) => run_id),
    row('mode', modeOf),
    row('status', ({ status }) => (status ?? 'at work').replaceAll('_', ' ')),
    row('time', (run) => formatDuration(secondsOf(run))),
    row('calls', ({ usage }) => String(usage.calls)),
    row('tokens', ({ usage }) => formatTokens(usage)),
    row('cost', ({ usage }) => formatCost(usage)),
    row('of it design', ({ design }) => (design === undefined ? '–' : formatUsage(design.usage))),
    row('waves', ({ waves }) => String(waves.length)),
    row('criteria met', (run) => {
      const { met, all, verified } = countCriteria(run);
      return `${met} of ${all}, ${verified} verified`;
    }),
  ];
}

export function modeOf({ design }: Pick<Judged, 'design'>): 'direct' | 'designed' {
  return design === undefined ? 'direct' : 'designed';
}

/** Returns the seconds from a run's start to its newest event, waits for the user included. */
export function secondsOf({ started_at, updated_at }: ComparedRun): number {
  return updated_at - started_at;
}

interface ComparedCriterion {
  readonly criterion_id: string;
  readonly description: string;
  /** State in each run; null in one that does not have it. */
  readonly states: readonly (RecordedCriterion['state'] | null)[];
}

/**
 * Lists the criteria that any of the runs has, in the order in which they came up. Two are the same only if they say the same:
 * each run numbers its own.
 */
export function compareCriteria(runs: readonly ComparedRun[]): ComparedCriterion[] {
  const found = new Map<string, Omit<ComparedCriterion, 'states'>>();
  for (const { criterion_id, description } of runs.flatMap(({ criteria }) => criteria)) {
    found.set(nameCriterion({ criterion_id, description }), { criterion_id, description });
  }
  return Array.from(found, ([name, said]) => ({
    ...said,
    states: runs.map(
      ({ criteria }) => criteria.find((one) => nameCriterion(one) === name)?.state ?? null,
    ),
  }));
}

function nameCriterion({
  criterion_id,
  description,
}: Pick<ComparedCriterion, 'criterion_id' | 'description'>): string {
  return JSON.stringify([criterion_id, description]);
}

interface ComparedPlan {
  readonly delegations: readonly Pick<
    Delegation,
    'delegation_id' | 'agent_id' | 'executor' | 'depends_on' | 'title'
  >[];
}

/** Describes plans in lines that can be compared. @param plans By wave. */
export function describePlans(plans: ReadonlyMap<number, ComparedPlan>): string[] {
  return Array.from(plans).flatMap(([wave, { delegations }]) => [
    `wave ${wave}`,
    ...delegations.map(describeDelegation),
  ]);
}

function describeDelegation(one: ComparedPlan['delegations'][number]): string {
  const { delegation_id, agent_id, executor, depends_on, title } = one;
  const by = executor.kind === 'agent' ? agent_id : `${executor.kind} of ${agent_id}`;
  const after = depends_on.length === 0 ? '' : ` after ${depends_on.join(', ')}`;
  return `  ${delegation_id} by ${by}${after}: ${title}`;
}
