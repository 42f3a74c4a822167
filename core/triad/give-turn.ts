import type { Duties, ReturnedRecord, TurnBrief } from '../../contracts/member-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TriadMember } from '../../contracts/triad.ts';
import type { PhaseState, PhaseStep, TurnOrder } from './phase-state.ts';
import { findWriter, hears, listStateTools } from './roles.ts';

export const noDuties: Duties = {
  answer: [],
  claim: [],
  claims_min: 0,
  assign: false,
  check: [],
  finish: [],
  summary: false,
  output: false,
};

/** A turn before it is given. */
export interface TurnDraft {
  readonly member: TriadMember;
  readonly duties: Partial<Duties>;
  readonly instruction_ref?: Ref;
}

/** Gives turns together: none of them sees what the others do at the same time. */
export function giveTurns(state: PhaseState, drafts: readonly TurnDraft[]): PhaseStep {
  const names = new Set(drafts.map(({ member }) => member.name));
  const atWork = state.outstanding.map(({ brief }) => brief.member.name);
  const start = drafts.map((draft, index): TurnOrder => ({
    turn: state.turns_given + index + 1,
    dispatch: state.dispatches + 1,
    brief: briefOf(state, draft, [...atWork, ...names]),
  }));
  return {
    state: {
      ...state,
      turns_given: state.turns_given + drafts.length,
      dispatches: state.dispatches + 1,
      outstanding: [...state.outstanding, ...start],
      queue: state.queue.filter((name) => !names.has(name)),
      assignments: state.assignments.filter(({ member }) => !names.has(member)),
      returned: state.returned.filter(({ member }) => !names.has(member)),
      told: {
        ...state.told,
        ...Object.fromEntries([...names].map((name) => [name, state.turns.length])),
      },
    },
    start,
  };
}

function briefOf(state: PhaseState, draft: TurnDraft, atWork: readonly string[]): TurnBrief {
  const { setup, phase, spec, summary_ref, round } = state;
  const { type, members, rounds_max } = setup;
  const { member, duties, instruction_ref = null } = draft;
  const { name } = member;
  const isDirecting = member.role === 'orchestrator';
  return {
    type,
    phase,
    member,
    team: members.map((one) => ({ name: one.name, role: one.role })),
    round: isDirecting ? round + 1 : Math.max(1, round),
    rounds_max,
    summary_ref,
    at_work: atWork.filter((one) => one !== name),
    instruction_ref,
    heard: listHeard(state, member),
    returned: listReturned(state, member),
    spec,
    duties: { ...noDuties, ...duties },
    tools: listStateTools(member, phase, findWriter(type, members)?.name === name),
  };
}

/**
 * Returns outdated records of the member. An orchestrator sees those of its workers too, because a worker without a
 * turn does not learn of them.
 */
function listReturned({ returned }: PhaseState, { name, role }: TriadMember): ReturnedRecord[] {
  return returned.flatMap(({ member, reason, current_ref }) => {
    if (member === name) return [{ reason, current_ref }];
    return role === 'orchestrator' ? [{ reason: `Of ${member}: ${reason}`, current_ref }] : [];
  });
}

/**
 * Lists texts of others that the member may read and has not been given. A worker that sums up also reads its
 * orchestrator; it knows the other worker's records already.
 */
function listHeard(state: PhaseState, { name, role }: TriadMember): TurnBrief['heard'] {
  const { setup, stage, turns, told } = state;
  const roleOf = (speaker: string): TriadMember['role'] | undefined =>
    setup.members.find((one) => one.name === speaker)?.role;
  const sumsUp = stage === 'writing' && role === 'worker';
  const since = sumsUp ? 0 : (told[name] ?? 0);
  return turns.slice(since).flatMap(({ member, round, said_ref }) => {
    const speaker = roleOf(member);
    if (said_ref === null || member === name || speaker === undefined) return [];
    const isHeard = hears(role, speaker) || (sumsUp && speaker === 'orchestrator');
    return isHeard ? [{ member, round, said_ref }] : [];
  });
}

/** Next step of a phase. */
export type NextTurns =
  /** A member is working, or the phase has ended. */
  | { readonly type: 'wait'; readonly state: PhaseState }
  | { readonly type: 'give'; readonly state: PhaseState; readonly drafts: readonly TurnDraft[] }
  /** Only the writer's turn is left. */
  | { readonly type: 'worked'; readonly state: PhaseState };
