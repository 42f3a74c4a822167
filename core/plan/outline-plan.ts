/**
 * Reduces a plan to what the rules of workflows need: its long texts stay in the artifact.
 */
import type { Delegation, DelegationOutline } from '../../contracts/delegation.ts';
import type { ExecutorOutline } from '../../contracts/executor.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TeamMember, TeamMemberOutline, TeamOutline, TeamPlan } from '../../contracts/team.ts';
import type { TriadOutline, TriadPlan } from '../../contracts/triad.ts';
import type { WavePlan, WavePlanOutline } from '../../contracts/wave-plan.ts';
import { listSections } from '../triad/list-sections.ts';
import { fingerprintDelegation } from './check-repetition.ts';

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
