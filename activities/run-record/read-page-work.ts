import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { PageWave, PageWork } from '../../contracts/run-page.ts';
import type { StoredWave } from '../../contracts/run-record.ts';
import {
  findPlanned,
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

/** Judgement of a triad on an output: its plan, and the reports of its phases. */
interface Judgement {
  readonly delegation_id: string;
  readonly plan_ref: Ref;
  readonly phases: readonly { readonly report_ref: Ref }[];
}

/** Lists the judgements of triads that verified an output, the oldest first. */
export function listJudgements({
  verification,
}: Pick<DelegationOutcome, 'verification'>): readonly Judgement[] {
  const { judgement, earlier_judgements: earlier = [] } = verification ?? {};
  if (judgement === undefined) return earlier;
  return [...earlier, { ...judgement, phases: judgement.executor.work.phases }];
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
  const isOver = ended !== null;
  const refs = ended === null ? [] : listPhaseRefs(ended.executor);
  const judgements = ended === null ? [] : listJudgements(ended);
  const judged = new Set(judgements.map((one) => one.delegation_id));
  const parts = [
    ...readPhases(reading, { id, planned, refs, isOver }),
    ...listTasks(calls, id, team?.tasks ?? [])
      .filter(([taskId]) => !judged.has(taskId))
      .map(([taskId, task]) =>
        task === null ? toUnrecorded(reading, taskId, isOver) : readTask(reading, task),
      ),
    ...judgements.map((one) => readJudgement(reading, one)),
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

/** Work of a triad. */
interface Phased {
  /** delegation_id, or the id of a task or a judgement. */
  readonly id: string;
  readonly planned: Delegation | null;
  /** Reports of its phases. */
  readonly refs: readonly Ref[];
  /** True when it has ended: then no phase is at work. */
  readonly isOver: boolean;
}

/** A phase that has ended has a report; the newest attempt at each is shown. */
function readPhases(
  { texts, calls }: WorkReading,
  { id, planned, refs, isOver }: Phased,
): readonly PageWork[] {
  const loaded = new Map(
    refs.map((ref) => textOf(texts.phases, ref)).map((one) => [one.report.phase as string, one]),
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
      state: ended?.report.status ?? stateUnrecorded(isOver),
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
    parts: readPhases(reading, { id, planned, refs: listPhaseRefs(task.executor), isOver: true }),
  };
}

function readJudgement(
  reading: WorkReading,
  { delegation_id, plan_ref, phases }: Judgement,
): PageWork {
  const planned = findPlanned(delegation_id, textOf(reading.texts.plans, plan_ref));
  const refs = phases.map(({ report_ref }) => report_ref);
  const parts = readPhases(reading, { id: delegation_id, planned, refs, isOver: true });
  return {
    ...toUnrecorded(reading, delegation_id, true),
    ...describePlanned(planned),
    kind: 'triad',
    agent_id: planned.agent_id,
    title: planned.title,
    state: parts.at(-1)?.state ?? stateUnrecorded(true),
    parts,
  };
}

/** Describes a task or a judgement of which only the calls are known: it is at work, unless its delegation has ended. */
function toUnrecorded(reading: WorkReading, id: string, isOver: boolean): PageWork {
  const conversations = conversationsOf(reading.calls, id, null);
  return {
    ...describePlanned(null),
    work_id: id,
    kind: 'task',
    agent_id: conversations[0]?.agent_id ?? '',
    title: id,
    state: stateUnrecorded(isOver),
    reason: '',
    output: null,
    record: null,
    diff: null,
    usage: null,
    conversations,
    parts: readPhases(reading, { id, planned: null, refs: [], isOver }),
  };
}

function stateUnrecorded(isOver: boolean): string {
  return isOver ? 'ended' : 'working';
}

/** Reads what a page says about a wave. */
export function readWave(reading: WorkReading, stored: StoredWave): PageWave {
  const { texts, calls } = reading;
  const { wave, plan_ref, decision_ref, outcomes } = stored;
  const plan = plan_ref === null ? null : textOf(texts.plans, plan_ref);
  const planned = new Map((plan?.delegations ?? []).map((one) => [one.delegation_id, one]));
  const ended = new Map(outcomes.map((one) => [one.delegation_id, one]));
  const inWave = calls.filter((one) => one.wave === wave);
  const ids = new Set([...planned.keys(), ...ended.keys()]);
  return {
    wave,
    status: stored.status,
    summary: plan?.summary ?? null,
    decision: decision_ref === null ? null : textOf(texts.decisions, decision_ref),
    usage: stored.usage,
    conversations: inWave
      .filter(({ delegation_id }) => delegation_id === null)
      .flatMap((one) => one.conversations),
    work: [...ids].flatMap(
      (id) =>
        readDelegation(
          { ...reading, calls: inWave },
          planned.get(id) ?? null,
          ended.get(id) ?? null,
        ) ?? [],
    ),
  };
}
