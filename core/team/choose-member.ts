/**
 * Chooses the member for a task (seed 002, cases 2.1 and 2.2; priority).
 *
 * Invariants:
 *   CHM1. A member's id selects that member, even if a capability has the same name.
 *   CHM2. A capability selects the enabled member that has it, may take tasks, and has the highest priority; the first
 *         of equals.
 *   CHM3. A refusal names a member that could take the task instead, or all members.
 */
import type { TeamSeat } from '../../contracts/team-run.ts';
import { describeRest, mayTake } from '../schedule/schedule.ts';
import { listNames } from '../text/list-names.ts';
import type { TeamState } from './team-state.ts';

export type ChosenMember =
  | { readonly type: 'chosen'; readonly member: TeamSeat }
  | { readonly type: 'refused'; readonly reason: string };

/** @param wanted Text of the leader's call. @param nowMs Milliseconds of work. */
export function chooseMember(state: TeamState, wanted: string, nowMs: number): ChosenMember {
  const { members } = state.setup;
  const named = members.find(({ member_id }) => member_id === wanted);
  if (named !== undefined) return takeNamed(state, named, nowMs);
  const able = members.filter(({ capabilities }) => capabilities.includes(wanted));
  if (able.length === 0)
    return refuse(`there is no member "${wanted}". Members: ${listAble(state)}`);
  const best = pickBest(able.filter((member) => isFree(state, member, nowMs)));
  if (best !== null) return { type: 'chosen', member: best };
  return refuse(
    `nobody with the capability "${wanted}" takes tasks now: ${able.map((one) => whyNot(state, one)).join('; ')}`,
  );
}

function takeNamed(state: TeamState, member: TeamSeat, nowMs: number): ChosenMember {
  if (isFree(state, member, nowMs)) return { type: 'chosen', member };
  const others = state.setup.members.filter(
    (other) =>
      other !== member &&
      isFree(state, other, nowMs) &&
      other.capabilities.some((one) => member.capabilities.includes(one)),
  );
  const best = pickBest(others);
  const cure =
    best === null
      ? `Members that take tasks: ${listNames(freeMembers(state, nowMs))}`
      : `Try: "${best.member_id}", which can do the same`;
  return refuse(`${whyNot(state, member)}. ${cure}`);
}

function isFree({ tasks }: TeamState, { member_id, enabled }: TeamSeat, nowMs: number): boolean {
  return enabled && mayTake(tasks, member_id, nowMs);
}

function pickBest(members: readonly TeamSeat[]): TeamSeat | null {
  return members.reduce<TeamSeat | null>(
    (best, one) => (best === null || one.priority > best.priority ? one : best),
    null,
  );
}

function whyNot({ tasks }: TeamState, { member_id, enabled }: TeamSeat): string {
  return enabled ? describeRest(tasks, member_id) : `"${member_id}" is disabled`;
}

function freeMembers(state: TeamState, nowMs: number): string[] {
  return state.setup.members
    .filter((member) => isFree(state, member, nowMs))
    .map(({ member_id }) => member_id);
}

function listAble({ setup }: TeamState): string {
  return listNames(
    setup.members.filter(({ enabled }) => enabled).map(({ member_id }) => member_id),
  );
}

function refuse(reason: string): ChosenMember {
  return { type: 'refused', reason };
}
