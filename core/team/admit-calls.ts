/**
 * Decides which calls of a leader's reply become tasks (seed 002: cases 1.3, 2.1, 2.2, 10.1, 10.2).
 *
 * Invariants:
 *   ADM1. A team never has more than max_delegations tasks, including those that did not start.
 *   ADM2. A call is a task or refused, never both; a refused one leaves only its refusal, which says what was expected.
 *   ADM3. The same task for the same executor with the same inputs is created once, here and in the teams above; the
 *         reason names the existing one.
 *   ADM4. Each task has a name of its own, which also names its result.
 *   ADM5. Inputs are results of this team's tasks or inputs of its own delegation. A call that needs a refused one is
 *         refused too.
 *   ADM6. The decision depends only on state, calls, time of work and room.
 *   ADM7. Calls that need each other's results are all refused, and the cycle is shown as A→B→A.
 *   ADM8. All teams of a workflow together never have more than `teamTasksMax` tasks in its history.
 */
import { engineLimits } from '../limits.ts';
import { findCycle } from '../schedule/dependencies.ts';
import { stepSchedule } from '../schedule/step-schedule.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { draftCalls } from './draft-calls.ts';
import type { DraftCall } from './draft-calls.ts';
import { executorOf } from './team-state.ts';
import type { GivenCall, RefusalKind, TeamState, TeamTask } from './team-state.ts';

export interface AdmittedCalls {
  readonly state: TeamState;
  /** Listed in the order of the calls. */
  readonly tasks: readonly TeamTask[];
  readonly refused: readonly {
    readonly tool_use_id: string;
    readonly reason: string;
    readonly kind: RefusalKind;
  }[];
}

interface Judged {
  readonly drafts: readonly DraftCall[];
  /** Kind of each refusal, by tool_use_id. */
  readonly kinds: ReadonlyMap<string, RefusalKind>;
}

interface Rule {
  readonly kind: RefusalKind;
  readonly judge: (
    drafts: readonly DraftCall[],
    state: TeamState,
    room: number,
  ) => readonly DraftCall[];
}

/** @param nowMs Milliseconds of work. @param room Number of tasks that all teams of the workflow may still create. */
export function admitCalls(
  state: TeamState,
  calls: readonly GivenCall[],
  nowMs: number,
  room: number = engineLimits.teamTasksMax,
): AdmittedCalls {
  const { drafts, kinds } = rules.reduce<Judged>(
    (judged, rule) => {
      const own = noteKind(judged, rule.judge(judged.drafts, state, room), rule.kind);
      return noteKind(own, refuseDependants(own.drafts), 'needs');
    },
    noteKind({ drafts: [], kinds: new Map() }, draftCalls(state, calls, nowMs), 'member'),
  );
  const tasks = toTasks(
    state,
    drafts.filter(({ refused }) => refused === null),
  );
  const refused = drafts.flatMap(({ given, refused: reason }) =>
    reason === null ? [] : [{ ...given, reason }],
  );
  const kept = refused.map(({ call, reason }) => ({
    member_id: cutText(call.member_id, 120),
    reason: cutText(reason, engineLimits.teamReasonCharsMax),
  }));
  return {
    state: {
      ...state,
      tasks: stepSchedule(state.tasks, { type: 'add', jobs: tasks }, nowMs).schedule,
      refused: [...state.refused, ...kept].slice(0, engineLimits.refusalsKeptMax),
      refused_total: state.refused_total + refused.length,
    },
    tasks,
    refused: refused.map(({ tool_use_id, reason }) => ({
      tool_use_id,
      reason,
      kind: kinds.get(tool_use_id) ?? 'member',
    })),
  };
}

const rules: readonly Rule[] = [
  { kind: 'name', judge: refuseNames },
  { kind: 'input', judge: refuseInputs },
  { kind: 'repeated', judge: refuseRepeated },
  { kind: 'cycle', judge: refuseCycles },
  { kind: 'limit', judge: refuseMore },
];

/** Gives the rule's kind to drafts that it refused and earlier rules did not. */
function noteKind({ kinds }: Judged, drafts: readonly DraftCall[], kind: RefusalKind): Judged {
  const more = new Map(kinds);
  for (const { refused, given } of drafts) {
    if (refused !== null && !more.has(given.tool_use_id)) more.set(given.tool_use_id, kind);
  }
  return { drafts, kinds: more };
}

/** Refuses drafts for which `why` returns a reason, in their order. Earlier refusals stay. */
function refuseWhere(
  drafts: readonly DraftCall[],
  why: (draft: DraftCall, before: readonly DraftCall[]) => string | null,
): readonly DraftCall[] {
  const judged: DraftCall[] = [];
  for (const draft of drafts) {
    const before = judged.filter(({ refused }) => refused === null);
    judged.push(draft.refused === null ? { ...draft, refused: why(draft, before) } : draft);
  }
  return judged;
}

function refuseNames(drafts: readonly DraftCall[], state: TeamState): readonly DraftCall[] {
  return refuseWhere(drafts, ({ name }, before) => {
    const isTaken =
      state.upstream.includes(name) ||
      [...state.tasks.entries, ...before].some((one) => one.name === name);
    return isTaken
      ? `"${name}" is the name of another result. Try: a name of its own, or none`
      : null;
  });
}

function refuseInputs(drafts: readonly DraftCall[], state: TeamState): readonly DraftCall[] {
  return refuseWhere(drafts, ({ unknown_inputs: unknown }) => {
    if (unknown.length === 0) return null;
    const known = [...state.tasks.entries.map(({ name }) => name), ...state.upstream];
    return `there is no result ${listNames(unknown, 5)}. Results: ${listNames(known)}, and those of calls with a name in the same reply`;
  });
}

function refuseRepeated(drafts: readonly DraftCall[], state: TeamState): readonly DraftCall[] {
  const above = state.chain.flatMap((link) =>
    link.given.map((given) => ({ ...given, team: link.executor_id })),
  );
  const path = [...state.chain.map(({ executor_id }) => executor_id), executorOf(state)];
  return refuseWhere(drafts, ({ fingerprint, member }, before) => {
    const same = [...state.tasks.entries, ...before].find((one) => one.fingerprint === fingerprint);
    if (same !== undefined) {
      const end = 'state' in same ? `, which is ${same.state}` : '';
      return `the same task was given to the same member as "${same.name}"${end}. Doing it again would end the same. Try: another task, another member, or finish with what there is`;
    }
    const outer = above.find((one) => one.fingerprint === fingerprint);
    if (outer === undefined) return null;
    const shown = [...path, member?.executor_id ?? '', outer.team].join('→');
    return `a team above has given out the same task to the same member as "${outer.delegation_id}": ${shown}. Try: another task, or finish with what there is`;
  });
}

function refuseCycles(drafts: readonly DraftCall[]): readonly DraftCall[] {
  const accepted = drafts.filter(({ refused }) => refused === null);
  const cycle = findCycle(new Map(accepted.map((one) => [one.delegation_id, one.needs])));
  if (cycle === null) return drafts;
  const names = cycle.map((id) => drafts.find((one) => one.delegation_id === id)?.name ?? id);
  const rest = refuseWhere(drafts, ({ delegation_id }) =>
    cycle.includes(delegation_id)
      ? `the calls need each other's results: ${names.join('→')}. Try: one of them without the other as an input`
      : null,
  );
  return refuseCycles(rest);
}

function refuseMore(
  drafts: readonly DraftCall[],
  state: TeamState,
  room: number,
): readonly DraftCall[] {
  const { max_delegations: max } = state.setup;
  const cure = 'Try: finish with what there is, and say what is missing';
  return refuseWhere(drafts, (_, before) => {
    if (state.tasks.entries.length + before.length >= max) {
      return `the limit of ${max} delegations (max_delegations) is reached. ${cure}`;
    }
    if (before.length < room) return null;
    return `this team and all that it is in have given out ${engineLimits.teamTasksMax} tasks, which is the limit. ${cure}`;
  });
}

/** Repeats until no accepted call needs a refused one. */
function refuseDependants(drafts: readonly DraftCall[]): readonly DraftCall[] {
  const gone = new Set(
    drafts.flatMap(({ refused, delegation_id }) => (refused === null ? [] : [delegation_id])),
  );
  // A refused name may be that of an earlier task, which still exists.
  for (const { refused, delegation_id } of drafts) if (refused === null) gone.delete(delegation_id);
  const next = refuseWhere(drafts, ({ needs, unknown_inputs }) => {
    const lost = needs.filter((id) => gone.has(id));
    if (lost.length === 0 || unknown_inputs.length > 0) return null;
    return `it needs ${listNames(lost, 5)}, which was refused. Try: it again when that is done`;
  });
  const isSettled = next.every(({ refused }, at) => refused === drafts[at]?.refused);
  return isSettled ? next : refuseDependants(next);
}

function toTasks(state: TeamState, drafts: readonly DraftCall[]): TeamTask[] {
  const order = orderTasks(drafts, state.setup.allow_parallel);
  const own = new Set(state.tasks.entries.map(({ delegation_id }) => delegation_id));
  return drafts.flatMap(
    ({ given, name, delegation_id, member, needs, fingerprint }): TeamTask[] => {
      if (member === null) return [];
      const { inputs = needs, after = [] } = order.get(delegation_id) ?? {};
      return [
        {
          delegation_id,
          name,
          tool_use_id: given.tool_use_id,
          member_id: member.member_id,
          executor_id: member.executor_id,
          title: given.call.title,
          task_ref: given.call.task_ref,
          fingerprint,
          inputs,
          depends_on: needs.filter((id) => after.includes(id) || own.has(id)),
          after,
        },
      ];
    },
  );
}

/**
 * Orders the tasks of one reply, and selects the results that they get.
 *
 * Invariants:
 *   OT1. An input of a call is finished before its task starts.
 *   OT2. A task that mentions another one of the reply comes after it, unless that would make a cycle; then it does not
 *        wait.
 *   OT3. In sequence, each task comes after the one before it in the reply and gets the results of all before it.
 */

/** A call that has not been refused. */
export type OrderedCall = Pick<DraftCall, 'delegation_id' | 'needs' | 'mentions'>;

interface TaskOrder {
  readonly inputs: readonly string[];
  readonly after: readonly string[];
}

/**
 * @param calls Calls of one reply, in its order, without a cycle among their needs. @returns the order by
 * delegation_id.
 */
export function orderTasks(
  calls: readonly OrderedCall[],
  isParallel: boolean,
): ReadonlyMap<string, TaskOrder> {
  const ids = new Set(calls.map(({ delegation_id }) => delegation_id));
  const edges = new Map(
    calls.map(({ delegation_id, needs }) => [delegation_id, needs.filter((id) => ids.has(id))]),
  );
  for (const { delegation_id, mentions } of calls) {
    for (const other of mentions) addEdge(edges, delegation_id, other);
  }
  if (!isParallel) chain(edges, calls);
  return new Map(
    calls.map(({ delegation_id, needs }) => {
      const after = edges.get(delegation_id) ?? [];
      return [delegation_id, { inputs: [...new Set([...needs, ...after])], after }];
    }),
  );
}

/** Puts each call after all before it, as far as needs allow: a call that needs a later one comes after that. */
function chain(edges: Map<string, readonly string[]>, calls: readonly OrderedCall[]): void {
  for (const [at, { delegation_id }] of calls.entries()) {
    for (const earlier of calls.slice(0, at)) addEdge(edges, delegation_id, earlier.delegation_id);
  }
}

function addEdge(edges: Map<string, readonly string[]>, from: string, to: string): void {
  const before = edges.get(from) ?? [];
  if (from === to || !edges.has(to) || before.includes(to)) return;
  edges.set(from, [...before, to]);
  if (findCycle(edges) !== null) edges.set(from, before);
}
