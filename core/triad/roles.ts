/**
 * Roles of the members in each triad type: the tools that they may call, and the members that they hear (seed 000: each
 * triad type has its own topology).
 *
 * Invariants:
 *   RO1. A tool is offered only where role and phase allow it: the critic never writes, only an orchestrator gives
 *        turns, only the critic or an orchestrator disputes a finished text, and only the writer sums up.
 *   RO2. A worker hears no other member; a proposer and a critic hear each other; a synthesizer hears both and a peer
 *        hears its peers; an orchestrator hears its workers.
 *   RO3. The writer is never an orchestrator.
 */
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { StateToolName } from '../../contracts/state-call.ts';
import type {
  TriadMember,
  TriadPhase,
  TriadRole,
  TriadType,
  SpecSection,
} from '../../contracts/triad.ts';
import type { AgentOutputOutline, Passable } from '../../contracts/agent-output.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { SpecState } from '../../contracts/spec.ts';
import { findUnsettled } from '../spec/read-spec.ts';
import { listNames } from '../text/list-names.ts';

/** Roles in the order of the members in a plan. */
export const rolesOf: Readonly<Record<TriadType, readonly [TriadRole, TriadRole, TriadRole]>> = {
  hierarchical: ['orchestrator', 'worker', 'worker'],
  dialectic: ['proposer', 'critic', 'synthesizer'],
  consensus: ['peer', 'peer', 'peer'],
};

const writerRoles: Readonly<Record<TriadType, TriadRole>> = {
  hierarchical: 'worker',
  dialectic: 'synthesizer',
  consensus: 'peer',
};

/** Finds the member that writes summaries and the output: the first of its role. */
export function findWriter<M extends Pick<TriadMember, 'role'>>(
  type: TriadType,
  members: readonly M[],
): M | undefined {
  return members.find(({ role }) => role === writerRoles[type]);
}

/** Lists the members whose agreement settles a claim. An orchestrator only watches: its workers negotiate. */
export function listNegotiators(members: readonly TriadMember[]): string[] {
  return members.filter(({ role }) => role !== 'orchestrator').map(({ name }) => name);
}

const lanes: Readonly<Record<TriadRole, readonly TriadRole[]>> = {
  orchestrator: ['worker'],
  worker: [],
  proposer: ['critic'],
  critic: ['proposer'],
  synthesizer: ['proposer', 'critic'],
  peer: ['peer'],
};

/** Returns true when the listener is given the speaker's texts. */
export function hears(listener: TriadRole, speaker: TriadRole): boolean {
  return lanes[listener].includes(speaker);
}

/** Roles that may own a section and write it. */
const writingRoles: readonly TriadRole[] = ['worker', 'proposer', 'synthesizer', 'peer'];

export function mayWrite(role: TriadRole): boolean {
  return writingRoles.includes(role);
}

/**
 * Returns true when a member may answer claims. In `deliberate` only a synthesizer may, which revises a proposal
 * instead of making a second one; in `execute` all but peers, whose finished texts can't be disputed.
 */
function negotiatesIn(role: TriadRole, phase: TriadPhase): boolean {
  if (role === 'orchestrator') return false;
  if (phase === 'deliberate') return role === 'synthesizer';
  return phase === 'negotiate' || role !== 'peer';
}

/** Lists the state tools of a member in a phase, in a fixed order. */
export function listStateTools(
  { role }: Pick<TriadMember, 'role'>,
  phase: TriadPhase,
  isWriter: boolean,
): StateToolName[] {
  const directs = role === 'orchestrator';
  const writes = mayWrite(role);
  const isExecute = phase === 'execute';
  const offered: readonly (readonly [StateToolName, boolean])[] = [
    ['assign_turn', directs],
    ['open_negotiation', isExecute && (directs || role === 'critic')],
    ['register_claim', phase === 'deliberate' && (writes || directs)],
    ['negotiate_response', negotiatesIn(role, phase)],
    ['edit_section', writes && phase !== 'negotiate'],
    ['generate_code', writes && isExecute],
    ['submit_summary', isWriter && !isExecute],
    ['get_current_claims', true],
    ['get_negotiation_state', true],
  ];
  return offered.flatMap(([name, isOffered]) => (isOffered ? [name] : []));
}

/**
 * Chooses the members of a triad that names none.
 *
 * Invariants:
 *   CH1. The members fit the type, have different names, and none of them is the planner.
 *   CH2. Each role gets the agent that suits it, if the registry has one; otherwise the first agent.
 */

/** Shipped agents, in the order of the seats. */
const suitable: Readonly<Record<TriadType, readonly string[]>> = {
  hierarchical: ['analyst', 'engineer', 'researcher'],
  dialectic: ['analyst', 'reviewer', 'writer'],
  consensus: ['analyst', 'engineer', 'reviewer'],
};

/** @returns null when there is no agent but the planner. */
export function chooseMembers(
  type: TriadType,
  agents: readonly Pick<AgentSummary, 'agent_id'>[],
): TriadMember[] | null {
  const executors = agents.map(({ agent_id }) => agent_id).filter((id) => id !== plannerAgentId);
  const [first] = executors;
  if (first === undefined) return null;
  const roles = rolesOf[type];
  return roles.map((role, i) => {
    const wanted = suitable[type][i];
    const nth = roles.slice(0, i + 1).filter((other) => other === role).length;
    const isAlone = roles.filter((other) => other === role).length === 1;
    return {
      name: isAlone ? role : `${role}-${nth}`,
      role,
      agent_id: wanted !== undefined && executors.includes(wanted) ? wanted : first,
    };
  });
}

type PlannedSpec = Pick<Delegation, 'executor' | 'acceptance_criteria'>;

/** The spec that a plan gives a triad: one section for each criterion where it names none of its own. */
export function listSections({
  executor,
  acceptance_criteria,
}: PlannedSpec): readonly SpecSection[] {
  return (
    (executor.kind === 'triad' ? executor.sections : undefined) ??
    acceptance_criteria.map(({ criterion_id, description }) => ({
      section_id: criterion_id,
      text: description,
    }))
  );
}

/**
 * Lists the criteria that can't be met while a section is disputed: those that it names, otherwise the one with its id,
 * otherwise all of the delegation.
 *
 * @param criterionIds Criteria of the delegation.
 */
export function listCarried(
  { section_id, criterion_ids }: Omit<SpecSection, 'text'>,
  criterionIds: readonly string[],
): readonly string[] {
  if (criterion_ids !== undefined) return criterion_ids;
  return criterionIds.includes(section_id) ? [section_id] : criterionIds;
}

/**
 * Lists the parts that a triad's output may pass on: the agreed sections under one name, or nothing when none is
 * agreed.
 */
export function listPassable(spec: SpecState): Passable[] {
  const unsettled = findUnsettled(spec);
  const sections = spec.sections.flatMap(({ section_id, text_ref, language }) =>
    text_ref === null || unsettled.includes(section_id) ? [] : [{ section_id, text_ref, language }],
  );
  return sections.length === 0 ? [] : [{ type: 'sections', names: ['sections'], sections }];
}

/** Finds the planned text of a section; empty if there is no such section. */
export function findPlannedText(delegation: PlannedSpec, sectionId: string): string {
  return listSections(delegation).find(({ section_id }) => section_id === sectionId)?.text ?? '';
}

/**
 * Checks that a triad's output calls no criterion met that depends on a section without agreement.
 *
 * Invariants:
 *   CS1. A criterion is unmet while a section that carries it has no owner or is disputed.
 *   CS2. A section carries the criteria that it names; without any, the criterion with its id; otherwise all criteria
 *        of the delegation.
 */

interface PlannedSections {
  readonly sections: readonly Omit<SpecSection, 'text'>[];
  readonly criterion_ids: readonly string[];
}

export function checkSettled(
  { coverage }: Pick<AgentOutputOutline, 'coverage'>,
  spec: SpecState,
  { sections, criterion_ids }: PlannedSections,
): OutputFault[] {
  const unsettled = findUnsettled(spec).map((id) => ({
    id,
    carried: listCarried(
      sections.find(({ section_id }) => section_id === id) ?? { section_id: id },
      criterion_ids,
    ),
  }));
  return coverage.criteria_met.flatMap(({ criterion_id }, i) => {
    const disputed = unsettled.filter(({ carried }) => carried.includes(criterion_id));
    if (disputed.length === 0) return [];
    const names = listNames(disputed.map(({ id }) => id));
    return [
      {
        path: `coverage.criteria_met[${i}].criterion_id`,
        reason: `the triad did not agree on ${disputed.length === 1 ? 'section' : 'sections'} ${names}, and the criterion rests on ${disputed.length === 1 ? 'it' : 'them'}`,
        hint: 'Try: move it to criteria_unmet and say there what is disputed',
      },
    ];
  });
}
