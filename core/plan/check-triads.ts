/**
 * Checks the triads in a plan: members, writer and sections.
 *
 * Invariants:
 *   PT1. Where triads are not allowed, the plan has none.
 *   PT2. The members are in the order of their type's roles, each with a name of its own.
 *   PT3. Every member is an agent of the registry, and never the planner.
 *   PT4. The delegation's agent is the agent of the member that writes the output.
 *   PT5. A spec has between 1 and `sectionsMax` sections, each once.
 *   PT6. A member's model is one that the run knows.
 *   PT7. The criteria that a section carries are the delegation's own.
 */
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { TriadMember, TriadOutline } from '../../contracts/triad.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { findWriter, rolesOf } from '../triad/roles.ts';
import { checkExecutor } from './check-delegations.ts';

/** Name of the claim on an owner's result: `<section_id>.output`. */
const reservedName = 'output';

/** Facts against which triads are checked. */
export interface TriadContext {
  readonly agents: readonly AgentSummary[];
  /** True when triads may do delegations. */
  readonly triads: boolean;
  /** Models that a member may be given. */
  readonly models: readonly string[];
}

export function checkTriads(
  delegations: readonly DelegationOutline[],
  context: TriadContext,
): OutputFault[] {
  return delegations.flatMap((delegation, i) => {
    const { triad } = delegation;
    if (triad === undefined) return [];
    const path = `delegations[${i}]`;
    if (!context.triads) {
      const reason = 'this run does without triads';
      const hint = 'Try: leave triad out; then the agent works alone';
      return [{ path: `${path}.triad`, reason, hint }];
    }
    return [
      ...checkTriad(triad, context, `${path}.triad.`),
      ...checkWriter(delegation, triad, path),
      ...checkSections(triad, delegation.criterion_ids, `${path}.triad.`),
    ];
  });
}

/** @param at Prefix of the paths: empty, or ending with a point. */
export function checkTriad(
  { type, members }: Pick<TriadOutline, 'type'> & { readonly members: readonly TriadMember[] },
  { agents, models }: Pick<TriadContext, 'agents' | 'models'>,
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
    faults.push(...checkExecutor(member.agent_id, `${path}.agent_id`, agents));
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

function checkWriter(
  { agent_id }: DelegationOutline,
  { type, members }: TriadOutline,
  path: string,
): OutputFault[] {
  const writer = findWriter(type, members);
  if (writer === undefined || writer.agent_id === agent_id) return [];
  return [
    {
      path: `${path}.agent_id`,
      reason: `the output of this triad is written by its ${writer.role} "${cutText(writer.name, 60)}", whose agent is another one`,
      hint: `Try: "${cutText(writer.agent_id, 60)}"`,
    },
  ];
}

/** Checks the named sections. Without any, the criteria are the sections, and their faults are reported there. */
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
