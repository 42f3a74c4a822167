import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { SpecState, PhaseSummaryOutline } from '../../contracts/spec.ts';
import type { TriadPhaseView } from '../../contracts/views.ts';
import { defaultTriad } from '../limits.ts';
import type { SpecEvent } from '../spec/spec-events.ts';
import { findWriter, hears, listStateTools } from './roles.ts';
import type {
  TriadMember,
  TriadOutline,
  TriadPhase,
  TriadTimeouts,
  TriadType,
} from '../../contracts/triad.ts';
import type { TurnRecord } from '../../contracts/triad-run.ts';
import type { ReturnedRecord, TurnBrief, Duties } from '../../contracts/state-call.ts';

/** A triad's configuration: the plan's, with every default filled in. */
export interface TriadSetup {
  readonly type: TriadType;
  readonly reason: string;
  /** Listed in the order of their roles. */
  readonly members: readonly TriadMember[];
  readonly rounds_max: number;
  readonly section_ids: readonly string[];
  readonly timeouts: Readonly<Record<keyof TriadTimeouts, number>>;
}

/** A turn to start now. */
export interface TurnOrder {
  /** Number of the turn, from 1. Unique in the phase. */
  readonly turn: number;
  /** Turns that were given together share one number; their records are taken together. */
  readonly dispatch: number;
  readonly brief: TurnBrief;
}

/** A turn that the orchestrator of a hierarchical triad gives. */
export interface Assignment {
  readonly member: string;
  readonly instruction_ref: Ref;
}

export interface FinishedTurn {
  readonly turn: number;
  readonly said_ref: Ref | null;
  /** Listed in the order in which they were made; judged again when they are taken. */
  readonly events: readonly SpecEvent[];
  readonly assignments: readonly Assignment[];
  readonly summary: PhaseSummaryOutline | null;
  readonly output: AgentOutputOutline | null;
}

/** A finished turn that waits for the others of its dispatch. */
export interface WaitingTurn {
  readonly order: TurnOrder;
  readonly done: FinishedTurn;
}

/** Everything that the next turns depend on. Small enough for history. */
export interface PhaseState {
  readonly setup: TriadSetup;
  readonly phase: TriadPhase;
  /** `writing`: the work is done, and the writer sums it up or gives the output. */
  readonly stage: 'working' | 'writing' | 'ended';
  /** Number of the round, from 1. In a hierarchical triad the number of times the orchestrator gave turns, from 0. */
  readonly round: number;
  readonly spec: SpecState;
  /** Summary of the phase before. */
  readonly summary_ref: Ref | null;
  /** Names of members that may still have a turn in this round, in order. Empty in a hierarchical triad. */
  readonly queue: readonly string[];
  /** Turns that an orchestrator has assigned and that are not given yet. */
  readonly assignments: readonly Assignment[];
  /** Number of turns and dispatches so far; the next ones are numbered after them. */
  readonly turns_given: number;
  readonly dispatches: number;
  readonly outstanding: readonly TurnOrder[];
  readonly waiting: readonly WaitingTurn[];
  /** Finished turns, in the order in which their texts can be read. */
  readonly turns: readonly TurnRecord[];
  /** Number of `turns` that each member has been given, by name. */
  readonly told: Readonly<Record<string, number>>;
  /** Records that go back to a member at its next turn. */
  readonly returned: readonly (ReturnedRecord & { readonly member: string })[];
  readonly summary: PhaseSummaryOutline | null;
  readonly output: AgentOutputOutline | null;
  /**
   * Version of each section's text that a critic has seen, by section_id. Texts that were agreed before the phase count
   * as seen.
   */
  readonly seen: Readonly<Record<string, number>>;
}

export interface PhaseStep {
  readonly state: PhaseState;
  /** Turns to start now, without those that are already outstanding. */
  readonly start: readonly TurnOrder[];
}

/** Describes a phase for people. */
export function viewPhase(state: PhaseState, status: TriadPhaseView['state']): TriadPhaseView {
  const { setup, phase, round, outstanding, spec } = state;
  return {
    ...viewBegun(setup, phase, spec),
    state: status,
    round: Math.max(1, round),
    at_work: outstanding.map(({ brief }) => brief.member.name),
  };
}

/** Describes a phase that a delegation has started and knows no more of. */
export function viewBegun(
  { type, rounds_max }: TriadSetup,
  phase: TriadPhase,
  { sections, claims }: SpecState,
): TriadPhaseView {
  return {
    type,
    phase,
    state: 'running',
    round: 0,
    rounds_max,
    at_work: [],
    sections: sections.map(({ section_id, owner, status, version }) => ({
      section_id,
      owner,
      status,
      version,
    })),
    claims: claims.map(({ claim_id, section_id, member, revision, state }) => ({
      claim_id,
      section_id,
      member,
      revision,
      state,
    })),
  };
}

/** Fills in what the plan left out. */
export function resolveTriad(triad: TriadOutline): TriadSetup {
  const { type, reason, members, rounds_max, sections, timeouts } = triad;
  return {
    type,
    reason,
    members,
    rounds_max: rounds_max ?? defaultTriad.rounds_max,
    section_ids: sections.map(({ section_id }) => section_id),
    timeouts: {
      turn_seconds: timeouts?.turn_seconds ?? defaultTriad.turn_seconds,
      dispatch_seconds: timeouts?.dispatch_seconds ?? defaultTriad.dispatch_seconds,
      round_seconds: timeouts?.round_seconds ?? defaultTriad.round_seconds,
      phase_seconds: timeouts?.phase_seconds ?? defaultTriad.phase_seconds,
    },
  };
}

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

export type NextTurns =
  /** A member is working, or the phase has ended. */
  | { readonly type: 'wait'; readonly state: PhaseState }
  | { readonly type: 'give'; readonly state: PhaseState; readonly drafts: readonly TurnDraft[] }
  /** Only the writer's turn is left. */
  | { readonly type: 'worked'; readonly state: PhaseState };
