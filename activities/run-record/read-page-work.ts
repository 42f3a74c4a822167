import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { PageWork } from '../../contracts/run-page.ts';
import {
  textOf,
  type LoadedTask,
  type LoadedTeam,
  type RecordTexts,
} from '../projection/record-texts.ts';
import { renderPhase } from '../projection/render-phase.ts';
import { renderTeam } from '../projection/render-team.ts';
import type { PlacedCalls } from './read-calls.ts';

/** Sources of what a page says about the work of one wave. */
export interface WorkReading {
  readonly texts: RecordTexts;
  readonly calls: readonly PlacedCalls[];
  /** Patches by delegation_id; that of the whole run by null. */
  readonly diffs: ReadonlyMap<string | null, string | null>;
}

export function listPhaseRefs(executor: DelegationOutcome['executor']): readonly Ref[] {
  if (executor.kind !== 'triad') return [];
  return (executor.work?.phases ?? []).map(({ report_ref }) => report_ref);
}

/** Describes a delegation of a wave, with the phases of its triad or the tasks of its team. */
export function readDelegation(
  reading: WorkReading,
  planned: Delegation | null,
  ended: DelegationOutcome | null,
): PageWork | null {
  const named = ended ?? planned;
  if (named === null) return null;
  const { delegation_id: id, agent_id, title, executor } = named;
  const { calls, diffs } = reading;
  const team = readTeam(reading, ended);
  const own = conversationsOf(calls, id, null);
  const parts = [
    ...readPhases(reading, id, planned, ended?.executor),
    ...listTasks(calls, id, team?.tasks ?? []).map(([taskId, task]) =>
      task === null ? toTaskAtWork(calls, taskId) : readTask(reading, task),
    ),
  ];
  return {
    ...describePlanned(planned),
    work_id: id,
    kind: executor.kind,
    agent_id,
    title,
    ...describeEnd(reading, ended, own.length + parts.length > 0),
    record: team === null || planned === null ? null : renderTeam(team, id),
    diff: diffs.get(id) ?? null,
    conversations: own,
    parts,
  };
}

function readTeam({ texts }: WorkReading, ended: DelegationOutcome | null): LoadedTeam | null {
  const ref = ended?.executor.kind === 'team' ? ended.executor.work?.report_ref : undefined;
  return ref === undefined ? null : textOf(texts.teams, ref);
}

function describeEnd(
  { texts }: WorkReading,
  ended: DelegationOutcome | null,
  hasBegun: boolean,
): Pick<PageWork, 'state' | 'reason' | 'output' | 'usage'> {
  if (ended === null) {
    return { state: hasBegun ? 'working' : 'planned', reason: '', output: null, usage: null };
  }
  const { status: state, reason, output_ref, usage } = ended;
  const output = output_ref === null ? null : textOf(texts.outputs, output_ref);
  return { state, reason, output, usage };
}

function describePlanned(
  planned: Delegation | null,
): Pick<PageWork, 'task' | 'criteria' | 'inputs' | 'depends_on'> {
  if (planned === null) return { task: null, criteria: [], inputs: [], depends_on: [] };
  return {
    task: planned.task_description,
    criteria: planned.acceptance_criteria,
    inputs: planned.required_inputs,
    depends_on: planned.depends_on,
  };
}

function conversationsOf(
  calls: readonly PlacedCalls[],
  id: string,
  phase: string | null,
): PageWork['conversations'] {
  return calls
    .filter((one) => one.delegation_id === id && one.phase === phase)
    .flatMap((one) => one.conversations);
}

/** A phase that has ended has a report; the newest attempt at each is shown. */
function readPhases(
  { texts, calls }: WorkReading,
  id: string,
  planned: Delegation | null,
  executor: DelegationOutcome['executor'] | undefined,
): readonly PageWork[] {
  const loaded = new Map(
    (executor === undefined ? [] : listPhaseRefs(executor))
      .map((ref) => textOf(texts.phases, ref))
      .map((one) => [one.report.phase as string, one]),
  );
  const atWork = calls.flatMap((one) => (one.delegation_id === id ? (one.phase ?? []) : []));
  return [...new Set([...loaded.keys(), ...atWork])].map((phase) => {
    const ended = loaded.get(phase) ?? null;
    return {
      ...describePlanned(null),
      work_id: `${id}/${phase}`,
      kind: 'phase',
      agent_id: '',
      title: phase,
      state: ended?.report.status ?? 'working',
      reason: ended?.report.failure?.message ?? '',
      output: null,
      record: ended === null || planned === null ? null : renderPhase(ended, planned),
      diff: null,
      usage: ended?.report.usage ?? null,
      conversations: conversationsOf(calls, id, phase),
      parts: [],
    };
  });
}

/** Lists the tasks of a team, and of teams below it: those that have ended, then those at work. */
function listTasks(
  calls: readonly PlacedCalls[],
  id: string,
  ended: readonly LoadedTask[],
): readonly (readonly [string, LoadedTask | null])[] {
  const known = new Map<string, LoadedTask | null>(ended.map((one) => [one.delegation_id, one]));
  for (const { delegation_id } of calls) {
    if (delegation_id?.startsWith(`${id}.`) !== true || known.has(delegation_id)) continue;
    known.set(delegation_id, null);
  }
  return [...known];
}

function readTask(reading: WorkReading, task: LoadedTask): PageWork {
  const { delegation_id: id, member_id, title, status, reason, planned, output, usage } = task;
  return {
    ...describePlanned(planned),
    work_id: id,
    kind: 'task',
    agent_id: planned?.agent_id ?? member_id,
    title,
    state: status,
    reason,
    output,
    record: null,
    diff: null,
    usage,
    conversations: conversationsOf(reading.calls, id, null),
    parts: readPhases(reading, id, planned, task.executor),
  };
}

function toTaskAtWork(calls: readonly PlacedCalls[], id: string): PageWork {
  const conversations = conversationsOf(calls, id, null);
  return {
    ...describePlanned(null),
    work_id: id,
    kind: 'task',
    agent_id: conversations[0]?.agent_id ?? '',
    title: id,
    state: 'working',
    reason: '',
    output: null,
    record: null,
    diff: null,
    usage: null,
    conversations,
    parts: [],
  };
}
