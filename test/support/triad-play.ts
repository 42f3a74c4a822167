import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { StateCall } from '../../contracts/state-call.ts';
import { openSpec } from '../../core/spec/read-spec.ts';
import type { SpecState } from '../../contracts/spec.ts';
import { findOpenDuties } from '../../core/triad/find-open-duties.ts';
import { judgeCall, openWork, takeCode } from '../../core/triad/judge-call.ts';
import type { TurnWork } from '../../core/triad/judged-call.ts';
import type {
  FinishedTurn,
  PhaseState,
  TriadSetup,
  TurnOrder,
} from '../../core/triad/phase-state.ts';
import { listNegotiators, rolesOf } from '../../core/triad/roles.ts';
import { openPhase, stepPhase } from '../../core/triad/step-phase.ts';
import type { Prng } from './prng.ts';
import type { TriadMember, TriadPhase, TriadType } from '../../contracts/triad.ts';

export const triadTypes: readonly TriadType[] = ['hierarchical', 'dialectic', 'consensus'];

export const membersOf: Readonly<Record<TriadType, readonly TriadMember[]>> = {
  hierarchical: name('hierarchical', ['boss', 'ann', 'bob']),
  dialectic: name('dialectic', ['pro', 'con', 'syn']),
  consensus: name('consensus', ['ann', 'bob', 'cid']),
};

function name(type: TriadType, names: readonly [string, string, string]): TriadMember[] {
  return rolesOf[type].map((role, at) => ({ name: names[at] ?? role, role, agent_id: 'analyst' }));
}

export function setupOf(
  type: TriadType,
  section_ids: readonly string[],
  rounds_max = 3,
): TriadSetup {
  return {
    type,
    reason: 'a test',
    members: membersOf[type],
    rounds_max,
    section_ids,
    timeouts: { turn_seconds: 10, dispatch_seconds: 20, round_seconds: 30, phase_seconds: 40 },
  };
}

export function specOf({ members, section_ids }: TriadSetup): SpecState {
  return openSpec(section_ids, listNegotiators(members));
}

export const completed: AgentOutputOutline = {
  status: 'completed',
  blocking_questions: [],
  optional_questions: [],
  missing_info_requests: [],
  assumptions_made: [],
  facts: [],
  text_faults: [],
  effects_claimed: [],
  coverage: { criteria_met: [], criteria_unmet: [] },
  output_ref: 'output',
};

/** Chooses one member's next calls, given what it owes. An empty list ends its turn. */
export type Player = (order: TurnOrder, work: TurnWork) => readonly StateCall[];

/** Plays a turn until the member owes nothing, as a workflow would, with at most `callsMax` rounds of calls. */
export function playTurn(order: TurnOrder, player: Player, callsMax = 60): FinishedTurn {
  const { brief, turn } = order;
  let work = openWork(brief);
  for (let calls = 0; calls < callsMax;) {
    const wanted = player(order, work);
    if (wanted.length === 0) break;
    for (const call of wanted) {
      calls += 1;
      const judged = judgeCall(brief, work, call);
      const done =
        judged.type === 'write_code' ? takeCode(brief, work, judged.order, `code-${turn}`) : judged;
      if (done.type === 'answered') work = done.work;
    }
  }
  const { events, assignments, summary } = work;
  const said_ref = `said-${brief.phase}-${brief.member.name}-${turn}`;
  const output = brief.duties.output ? completed : null;
  return { turn, said_ref, events, assignments, summary, output };
}

/** Returns the same member, but with sections written when their claims are settled. */
export function writesLater(player: Player): Player {
  return (order, work) =>
    player(order, work).map((call) =>
      call.tool === 'register_claim' ? { ...call, write_later: true } : call,
    );
}

/** Creates a member that does what it owes, and answers claims by `decide`. */
export function dutiful(
  decide: (claimId: string, order: TurnOrder) => 'CONCEDE' | 'REVISE' | 'HOLD' = () => 'CONCEDE',
): Player {
  return (order, work) => {
    const { brief, turn } = order;
    if (findOpenDuties(brief, work).length === 0) return [];
    const { duties, member, team } = brief;
    const own = work.spec.claims.filter((claim) => claim.member === member.name);
    const workers = team.filter(({ role }) => role === 'worker');
    if (member.role === 'orchestrator') {
      const claims = work.spec.claims.length === 0 && duties.claim.length > 0;
      if (claims) {
        return duties.claim.map((section_id, at): StateCall => ({
          tool: 'register_claim',
          section_id,
          for_member: workers[at % 2]?.name ?? '',
          proposal_ref: `proposal-${section_id}`,
        }));
      }
      return workers.map(({ name: worker }): StateCall => ({
        tool: 'assign_turn',
        member: worker,
        instruction_ref: `instruction-${turn}-${worker}`,
      }));
    }
    const some = work.spec.sections.slice(0, Math.max(0, duties.claims_min - own.length));
    const toClaim = [...duties.claim, ...some.map(({ section_id }) => section_id)].filter(
      (id) => !own.some(({ section_id }) => section_id === id),
    );
    const answered = new Set(
      work.events.flatMap((one) => (one.type === 'respond' ? [one.claim_id] : [])),
    );
    return [
      ...toClaim.map((section_id): StateCall => ({
        tool: 'register_claim',
        section_id,
        for_member: null,
        proposal_ref: `proposal-${section_id}-${member.name}`,
      })),
      ...duties.answer
        .filter((id) => !answered.has(id))
        .map((claim_id): StateCall => {
          const decision = decide(claim_id, order);
          const revised_ref = decision === 'REVISE' ? `revised-${claim_id}-${turn}` : null;
          return {
            tool: 'negotiate_response',
            claim_id,
            decision,
            reason_ref: 'reason',
            revised_ref,
          };
        }),
      ...work.spec.sections
        .filter(
          ({ owner, status }) =>
            brief.phase === 'execute' && owner === member.name && status !== 'done',
        )
        .map(({ section_id, version }): StateCall => ({
          tool: 'edit_section',
          section_id,
          base_version: version,
          status: 'done',
          text_ref: `text-${section_id}`,
        })),
      ...(duties.summary ? [summaryOf(work)] : []),
    ];
  };
}

export function summaryOf({ spec }: Pick<TurnWork, 'spec'>): StateCall {
  const ids = spec.sections.map(({ section_id }) => section_id);
  const decided = spec.sections.flatMap(({ section_id, owner }) =>
    owner === null ? [] : [section_id],
  );
  const open = ids.filter((id) => !decided.includes(id));
  return { tool: 'submit_summary', summary: { summary_ref: 'summary', decided, open } };
}

export interface Played {
  readonly state: PhaseState;
  /** Turns in the order in which they were ordered. */
  readonly orders: readonly TurnOrder[];
}

/**
 * Plays a phase to its end. `chance` chooses which of the running members finishes first; without it, the last one
 * does.
 */
export function playPhase(
  setup: TriadSetup,
  phase: TriadPhase,
  spec: SpecState,
  player: Player,
  chance?: Prng,
): Played {
  let { state, start } = openPhase(setup, phase, { spec, summary_ref: null });
  const orders: TurnOrder[] = [...start];
  while (state.outstanding.length > 0) {
    const { outstanding } = state;
    const order = chance === undefined ? outstanding.at(-1) : chance.pick(outstanding);
    if (order === undefined || orders.length > 1_000) throw new Error('The phase has no end.');
    ({ state, start } = stepPhase(state, playTurn(order, player)));
    orders.push(...start);
  }
  return { state, orders };
}
