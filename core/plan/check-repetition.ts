/** Checks whether a plan repeats work that had no result (seed 004 §8). */
import type { Delegation, DelegationOutline, ExecutorOutline } from '../../contracts/delegation.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { TeamOutline, TeamMember, TeamMemberOutline, TeamPlan } from '../../contracts/team.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { hashText } from '../text/hash-text.ts';
import { listNames } from '../text/list-names.ts';
import type { Ref } from '../../contracts/ref.ts';
import { hashTask } from '../team/draft-calls.ts';
import type { TriadOutline, TriadPlan } from '../../contracts/triad.ts';
import type { WavePlan, WavePlanOutline } from '../../contracts/wave-plan.ts';
import { listSections } from '../triad/roles.ts';

/**
 * @param fingerprints Number of dispatches of each in earlier waves. Repetition inside the plan counts too.
 * @param stale Delegations that may be redone: they start from other inputs, though under the same names.
 */
export function checkRepetition(
  delegations: readonly DelegationOutline[],
  fingerprints: Readonly<Record<string, number>>,
  stale: readonly string[],
): OutputFault[] {
  const times = new Map(Object.entries(fingerprints));
  const max = engineLimits.sameFingerprintMax;
  return delegations.flatMap((delegation, i) => {
    const before = times.get(delegation.fingerprint) ?? 0;
    times.set(delegation.fingerprint, before + 1);
    const isRedone = delegation.redoes !== undefined && stale.includes(delegation.redoes);
    if (before < max || isRedone) return [];
    return [
      {
        path: `delegations[${i}]`,
        reason: `the same agent with the same task, inputs and criteria ran ${before === 2 ? 'twice' : `${before} times`} without result`,
        hint: 'Try: a task that says what is to be done otherwise, another agent, other inputs, smaller criteria, or a question to the user',
      },
    ];
  });
}

/**
 * Checks what a plan does again: only what is stale, because anything else would give the same once more.
 *
 * @param stale delegation_ids that may be done again.
 */
export function checkRedone(
  delegations: readonly DelegationOutline[],
  stale: readonly string[],
): OutputFault[] {
  return delegations.flatMap(({ redoes }, i) => {
    if (redoes === undefined) return [];
    const path = `delegations[${i}].redoes`;
    const before = delegations.findIndex((one) => one.redoes === redoes);
    if (!stale.includes(redoes)) {
      const reason = `"${cutText(redoes, 60)}" is not stale, so it is not done again`;
      return [{ path, reason, hint: `Try: leave it out. Stale delegations: ${listNames(stale)}` }];
    }
    if (before === i) return [];
    const reason = `"${redoes}" is done again by delegations[${before}] already`;
    return [{ path, reason, hint: 'Try: one delegation for each that is done again' }];
  });
}

/**
 * Fingerprints a delegation, so that a repetition is recognised.
 *
 * Invariants:
 *   F1. The order and repetition of inputs and criteria do not change the fingerprint; agent, task, inputs and criteria
 *       do. Two tasks with the same `hashTask` are one.
 *   F2. A triad differs from an agent, and from a triad of another type.
 *   F3. A team differs from an agent and a triad, and from a team of another name or with other members.
 */

/** Part of an executor that tells it apart from others. */
type Fingerprinted =
  | { readonly kind: 'agent' }
  | ({ readonly kind: 'triad' } & Pick<TriadOutline, 'type'>)
  | ({ readonly kind: 'team' } & Pick<TeamOutline, 'team_id' | 'members'>);

export function fingerprintDelegation(
  d: Pick<Delegation, 'task_description'> &
    Pick<DelegationOutline, 'agent_id' | 'required_inputs' | 'criterion_ids'> & {
      readonly executor: Fingerprinted;
    },
): string {
  const work = [
    d.agent_id,
    hashTask(d.task_description),
    sortedSet(d.required_inputs),
    sortedSet(d.criterion_ids),
  ];
  return hashText(JSON.stringify([...work, ...describeExecutor(d.executor)]));
}

function describeExecutor(executor: Fingerprinted): readonly unknown[] {
  switch (executor.kind) {
    case 'agent':
      return [];
    case 'triad':
      return [executor.type];
    case 'team':
      return ['team', describeTeam(executor)];
  }
}

/** Returns the team's name, or its executors. */
function describeTeam({
  team_id,
  members = [],
}: Pick<TeamOutline, 'team_id' | 'members'>): readonly string[] {
  if (team_id !== undefined) return [team_id];
  const executors = members.map((member) => {
    if (member.triad !== undefined) return `triad:${member.triad.type}`;
    return member.team_id === undefined
      ? `agent:${member.agent_id ?? member.id}`
      : `team:${member.team_id}`;
  });
  return ['members', ...sortedSet(executors)];
}

/** Sorts by code units, which is the same on every machine. */
function sortedSet(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted();
}

/**
 * Reduces a plan to what the rules of workflows need: its long texts stay in the artifact.
 */

/** @param ref Where the plan is stored. */
export function outlinePlan(plan: WavePlan, ref: Ref): WavePlanOutline {
  return { ...plan, delegations: plan.delegations.map(outlineDelegation), plan_ref: ref };
}

function outlineDelegation(delegation: Delegation): DelegationOutline {
  const { task_description, acceptance_criteria, verification, ...rest } = delegation;
  const executor = outlineExecutor(delegation);
  const criterion_ids = acceptance_criteria.map((criterion) => criterion.criterion_id);
  return {
    ...rest,
    executor,
    criterion_ids,
    ...(verification !== undefined && {
      verification: {
        verified_by: verification.verified_by,
        ...(verification.triad !== undefined && {
          triad_agents: verification.triad.members.map((member) => member.agent_id),
        }),
        ...(verification.checks.some(({ check }) => check.kind === 'command') && {
          runs_commands: true,
        }),
      },
    }),
    fingerprint: fingerprintDelegation({ ...rest, task_description, criterion_ids, executor }),
  };
}

function outlineExecutor(delegation: Delegation): ExecutorOutline {
  const { executor } = delegation;
  switch (executor.kind) {
    case 'agent':
      return executor;
    case 'triad':
      return { kind: 'triad', ...outlineTriad(executor, delegation) };
    case 'team':
      return { kind: 'team', ...outlineTeam(executor, delegation) };
  }
}

function outlineTeam(
  { instructions: _instructions, members, ...rest }: TeamPlan,
  delegation: Delegation,
): TeamOutline {
  if (members === undefined) return rest;
  return { ...rest, members: members.map((member) => outlineMember(member, delegation)) };
}

function outlineMember(
  { name: _name, description: _description, triad, ...rest }: TeamMember,
  delegation: Delegation,
): TeamMemberOutline {
  return triad === undefined ? rest : { ...rest, triad: outlineTriad(triad, delegation) };
}

function outlineTriad(
  { sections: _sections, ...rest }: TriadPlan,
  delegation: Delegation,
): TriadOutline {
  return { ...rest, sections: listSections(delegation).map(({ text: _text, ...one }) => one) };
}
