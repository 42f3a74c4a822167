/**
 * Checks of a triad, whether it does a delegation or is a member of a team: who sits where, what it works on.
 *
 * Invariants:
 *   PT2. The members stand in the order of their type's roles, each with a name of its own.
 *   PT3. Every member is an agent of the registry, and never the planner.
 *   PT5. A spec has between 1 and `sectionsMax` sections, each once.
 *   PT6. A member's model is one that the run knows.
 *   PT7. The criteria that a section carries are the delegation's own.
 */
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { rolesOf, mayWrite } from './roles.ts';
import type { TriadMember, TriadOutline, TriadPhase } from '../../contracts/triad.ts';

/** Name of the claim on an owner's result: `<section_id>.output`. */
const reservedName = 'output';

/** Checks that an agent that is to work is in the registry, and not the planner. */
export function checkAgent(
  id: string,
  path: string,
  agents: readonly Pick<AgentSummary, 'agent_id'>[],
): OutputFault[] {
  const executors = agents.map((agent) => agent.agent_id).filter((one) => one !== plannerAgentId);
  if (executors.includes(id)) return [];
  return [
    {
      path,
      reason:
        id === plannerAgentId
          ? 'the planner plans and decides; it is no executor'
          : `there is no agent "${cutText(id, 60)}"`,
      hint: `Try: one of ${listNames(executors)}`,
    },
  ];
}

/** @param at Prefix of the paths: empty, or ending with a point. */
export function checkTriad(
  { type, members }: Pick<TriadOutline, 'type'> & { readonly members: readonly TriadMember[] },
  {
    agents,
    models,
  }: {
    readonly agents: readonly Pick<AgentSummary, 'agent_id'>[];
    readonly models: readonly string[];
  },
  at: string,
): OutputFault[] {
  const names = members.map(({ name }) => name);
  return members.flatMap((member, i) => {
    const path = `${at}members[${i}]`;
    const seat = rolesOf[type][i];
    const before = names.indexOf(member.name);
    const faults: OutputFault[] = [];
    if (member.role !== seat) {
      faults.push({
        path: `${path}.role`,
        reason: `members[${i}] of a ${type} triad is its ${seat ?? 'guest'}, not its ${member.role}`,
        hint: `Try: members in the order ${rolesOf[type].join(', ')}`,
      });
    }
    if (before !== i) {
      faults.push({
        path: `${path}.name`,
        reason: `"${cutText(member.name, 60)}" is the name of members[${before}] already`,
        hint: 'Try: a name of its own for each member',
      });
    }
    if (member.name === reservedName) {
      faults.push({
        path: `${path}.name`,
        reason: `"${reservedName}" stands for what an owner made, and is no name of a member`,
        hint: `Try: "${member.role}"`,
      });
    }
    faults.push(...checkAgent(member.agent_id, `${path}.agent_id`, agents));
    if (member.model !== undefined && !models.includes(member.model)) {
      faults.push({
        path: `${path}.model`,
        reason: `this run knows no model "${cutText(member.model, 60)}"`,
        hint: `Try: leave it out, for the agent's own${models.length === 0 ? '' : `, or one of ${listNames(models)}`}`,
      });
    }
    return faults;
  });
}

/** Sections that were left out are the criteria, whose own faults are told there. */
export function checkSections(
  { sections }: Pick<TriadOutline, 'sections'>,
  criterionIds: readonly string[],
  at: string,
): OutputFault[] {
  const section_ids = sections.map(({ section_id }) => section_id);
  const max = engineLimits.sectionsMax;
  if (section_ids.length > max) {
    return [
      {
        path: `${at}sections`,
        reason: `the spec has ${section_ids.length} sections, the limit is ${max}; left out, each criterion is one`,
        hint: `Try: name at most ${max} sections, or let one agent do it`,
      },
    ];
  }
  const areCriteria = section_ids.join(' ') === criterionIds.join(' ');
  return sections.flatMap(({ section_id: id, criterion_ids = [] }, i) => {
    const path = `${at}sections[${i}]`;
    const before = section_ids.indexOf(id);
    const unknown = criterion_ids.filter((criterion) => !criterionIds.includes(criterion));
    const faults: OutputFault[] = [];
    if (before !== i && !areCriteria) {
      const reason = `"${cutText(id, 60)}" is the section_id of sections[${before}] already`;
      const hint = 'Try: an id of its own for each section';
      faults.push({ path: `${path}.section_id`, reason, hint });
    }
    if (unknown.length > 0) {
      faults.push({
        path: `${path}.criterion_ids`,
        reason: `the delegation has no criterion ${listNames(unknown)}`,
        hint: `Try: leave criterion_ids out${criterionIds.length === 0 ? '' : `, or name some of ${listNames(criterionIds)}`}`,
      });
    }
    return faults;
  });
}

/**
 * Checks the input of a single phase that is started by hand.
 *
 * Invariants:
 *   PB1. Each phase takes the result of the phase before it, and nothing else: `deliberate` nothing, `negotiate` a
 *        summary and claims, `execute` a summary and owners.
 *   PB2. Claims and owners name sections of the spec and members whose role may own one.
 *   PB3. A member claims a section once.
 *   PB4. All faults are reported at once, each with path, reason and "Try: …".
 */

/** The typed input, without its texts. */
export interface TypedStart {
  readonly phase: TriadPhase;
  readonly has_summary: boolean;
  readonly claims: readonly Ownership[] | undefined;
  /** Maps section_id to member. */
  readonly owners: Readonly<Record<string, string>> | undefined;
}

interface Ownership {
  readonly section_id: string;
  readonly member: string;
}

export interface PhaseTeam {
  readonly members: readonly Pick<TriadMember, 'name' | 'role'>[];
  readonly sections: readonly { readonly section_id: string }[];
}

export function checkPhaseStart(start: TypedStart, team: PhaseTeam): OutputFault[] {
  const claims = start.claims ?? [];
  const faults = checkPlace(start);
  for (const [i, claim] of claims.entries()) {
    const path = `claims[${i}]`;
    faults.push(
      ...checkSection(claim.section_id, `${path}.section_id`, team),
      ...checkOwner(claim.member, `${path}.member`, team),
    );
    const before = claims.findIndex(
      (one) => one.section_id === claim.section_id && one.member === claim.member,
    );
    if (before !== i) {
      const reason = `"${cutText(claim.member, 60)}" claims this section in claims[${before}] already`;
      faults.push({ path, reason, hint: 'Try: one claim with the whole proposal' });
    }
  }
  for (const [section, member] of Object.entries(start.owners ?? {})) {
    const path = `owners.${cutText(section, 60)}`;
    faults.push(...checkSection(section, path, team), ...checkOwner(member, path, team));
  }
  return faults;
}

function checkPlace({ phase, has_summary, claims, owners }: TypedStart): OutputFault[] {
  const faults: OutputFault[] = [];
  const refuse = (path: string, reason: string, hint: string): void => {
    faults.push({ path, reason, hint: `Try: ${hint}` });
  };
  if (has_summary && phase === 'deliberate') {
    refuse('summary', 'deliberate is the first phase: none before it', 'put it into the task');
  }
  if (claims !== undefined && phase !== 'negotiate') {
    refuse(
      'claims',
      `${phase} takes no claims, negotiate does`,
      '"phase":"negotiate", or no claims',
    );
  }
  if (owners !== undefined && phase !== 'execute') {
    refuse('owners', `${phase} takes no owners, execute does`, '"phase":"execute", or no owners');
  }
  return faults;
}

function checkSection(id: string, path: string, { sections }: PhaseTeam): OutputFault[] {
  const section_ids = sections.map(({ section_id }) => section_id);
  if (section_ids.includes(id)) return [];
  const reason = `there is no section "${cutText(id, 60)}"`;
  return [{ path, reason, hint: `Try: one of ${listNames(section_ids)}` }];
}

function checkOwner(name: string, path: string, { members }: PhaseTeam): OutputFault[] {
  const member = members.find((one) => one.name === name);
  if (member !== undefined && mayWrite(member.role)) return [];
  const reason =
    member === undefined
      ? `there is no member "${cutText(name, 60)}"`
      : `a ${member.role} owns no sections`;
  const owners = members.filter(({ role }) => mayWrite(role)).map((one) => one.name);
  return [{ path, reason, hint: `Try: one of ${listNames(owners)}` }];
}
