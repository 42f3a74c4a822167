import type { TeamSeat } from '../../contracts/team-run.ts';
import { taskId } from '../ids.ts';
import { chooseMember } from './choose-member.ts';
import { fingerprintTask } from './fingerprint-task.ts';
import type { GivenCall, TeamState } from './team-state.ts';

/** A call of the leader before it is known whether it is carried out. */
export interface DraftCall {
  readonly given: GivenCall;
  readonly name: string;
  readonly delegation_id: string;
  /** Null: nobody takes it. */
  readonly member: TeamSeat | null;
  /** What the leader named, resolved. Unknown ones are left out. */
  readonly needs: readonly string[];
  readonly unknown_inputs: readonly string[];
  /** delegation_ids of other calls in the reply that its text speaks of. */
  readonly mentions: readonly string[];
  readonly fingerprint: string;
  /** Why it is not carried out; null as long as nothing speaks against it. */
  readonly refused: string | null;
}

/** Gives each call its name and finds out who takes it and what it needs. Nothing is refused but what nobody can take. */
export function draftCalls(
  state: TeamState,
  calls: readonly GivenCall[],
  nowMs: number,
): DraftCall[] {
  const names = nameCalls(state, calls);
  const chosen = calls.map(({ call }) => chooseMember(state, call.member_id, nowMs));
  return calls.map((given, at): DraftCall => {
    const { call } = given;
    const choice = chosen[at];
    const member = choice?.type === 'chosen' ? choice.member : null;
    const resolved = call.inputs.map((input) => [input, resolve(state, names, input)] as const);
    const needs = [...new Set(resolved.flatMap(([, id]) => id ?? []))];
    return {
      given,
      name: names[at] ?? '',
      delegation_id: taskId(state.delegation_id, names[at] ?? ''),
      member,
      needs,
      unknown_inputs: resolved.flatMap(([input, id]) => (id === null ? [input] : [])),
      mentions: calls.flatMap((other, i) => {
        const isMeant = [other.call.name, other.call.member_id].some(
          (one) => one !== null && call.mentions.includes(one),
        );
        return i !== at && isMeant ? [taskId(state.delegation_id, names[i] ?? '')] : [];
      }),
      fingerprint: fingerprintTask(member?.executor_id ?? '', call.task_hash, needs),
      refused: choice?.type === 'refused' ? choice.reason : null,
    };
  });
}

/** The leader's own names, and `d1`, `d2` … for the others: never one that is taken. */
function nameCalls({ tasks }: TeamState, calls: readonly GivenCall[]): string[] {
  const taken = new Set([
    ...tasks.map(({ name }) => name),
    ...calls.flatMap(({ call }) => call.name ?? []),
  ]);
  let last = tasks.length;
  return calls.map(({ call }) => {
    if (call.name !== null) return call.name;
    do last += 1;
    while (taken.has(`d${last}`));
    return `d${last}`;
  });
}

/** @returns the delegation_id that an input stands for; null when it stands for none. */
function resolve(
  { delegation_id, tasks, upstream }: TeamState,
  names: readonly string[],
  input: string,
): string | null {
  if (upstream.includes(input)) return input;
  const known = [...tasks.map(({ name }) => name), ...names];
  const name = known.find((one) => one === input || taskId(delegation_id, one) === input);
  return name === undefined ? null : taskId(delegation_id, name);
}
