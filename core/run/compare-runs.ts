/**
 * Compares two runs: what each has used, reached and planned.
 *
 * Invariants:
 *   TB1. Each fact of both runs stands in one row, and no run is judged by what the other was not asked to do: a criterion
 *        that only one of them has is shown as missing in the other, not as unmet.
 */
import type { Delegation } from '../../contracts/delegation.ts';
import type { RecordedCriterion, RunRecord } from '../../contracts/run-record.ts';
import { countCriteria } from '../design/judge-design.ts';
import type { Judged } from '../design/judge-design.ts';
import { formatCost, formatDuration, formatTokens, formatUsage } from '../text/format.ts';

/** Run that is compared with another. */
export interface ComparedRun
  extends Judged, Pick<RunRecord, 'run_id' | 'status' | 'started_at' | 'updated_at'> {
  readonly criteria: readonly Pick<
    RecordedCriterion,
    'criterion_id' | 'description' | 'state' | 'delegation_id'
  >[];
  /** The plans of its waves, a line for each delegation. */
  readonly plan: readonly string[];
  /** Markdown. Of a run that has not ended: the newest that is known. */
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

/** Lists the criteria that any of the runs has, by their ids, in the order in which they came up. */
export function compareCriteria(runs: readonly ComparedRun[]): ComparedCriterion[] {
  const found = new Map<string, string>();
  for (const { criteria } of runs) {
    for (const { criterion_id: id, description } of criteria) {
      if (!found.has(id)) found.set(id, description);
    }
  }
  return Array.from(found, ([criterion_id, description]) => ({
    criterion_id,
    description,
    states: runs.map(
      ({ criteria }) => criteria.find((one) => one.criterion_id === criterion_id)?.state ?? null,
    ),
  }));
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
