import type { TeamSeat } from '../../contracts/team-run.ts';
import { taskId } from '../ids.ts';
import { chooseMember } from './choose-member.ts';
import { fingerprintTask } from './fingerprint-task.ts';
import type { GivenCall, TeamState } from './team-state.ts';

/** A call of the leader before it is accepted or refused. */
export interface DraftCall {
  readonly given: GivenCall;
  readonly name: string;
  readonly delegation_id: string;
  /** Null when no member takes it. */
  readonly member: TeamSeat | null;
  /** Inputs that the leader named, resolved to ids. Unknown ones are left out. */
  readonly needs: readonly string[];
  readonly unknown_inputs: readonly string[];
  /** delegation_ids of other calls in the reply that its text mentions. */
  readonly mentions: readonly string[];
  readonly fingerprint: string;
  /** Reason of the refusal; null while nothing speaks against the call. */
  readonly refused: string | null;
}

/** Gives each call its name, its member and its inputs. Refuses only calls that no member can take. */
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

/** Returns the leader's own names, and unused names `d1`, `d2` … for the others. */
function nameCalls({ tasks }: TeamState, calls: readonly GivenCall[]): string[] {
  const taken = new Set([
    ...tasks.entries.map(({ name }) => name),
    ...calls.flatMap(({ call }) => call.name ?? []),
  ]);
  let last = tasks.entries.length;
  return calls.map(({ call }) => {
    if (call.name !== null) return call.name;
    do last += 1;
    while (taken.has(`d${last}`));
    return `d${last}`;
  });
}

/** @returns the delegation_id of an input; null when it names no result. */
function resolve(
  { delegation_id, tasks, upstream }: TeamState,
  names: readonly string[],
  input: string,
): string | null {
  if (upstream.includes(input)) return input;
  const known = [...tasks.entries.map(({ name }) => name), ...names];
  const name = known.find((one) => one === input || taskId(delegation_id, one) === input);
  return name === undefined ? null : taskId(delegation_id, name);
}
