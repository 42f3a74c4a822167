/**
 * Fingerprints a delegation, so that a repetition is recognised.
 *
 * Invariants:
 *   F1. The order and repetition of inputs and criteria do not change the fingerprint; agent, task, inputs and criteria
 *       do. Two tasks with the same `hashTask` are one.
 *   F2. A triad differs from an agent, and from a triad of another type.
 *   F3. A team differs from an agent and a triad, and from a team of another name or with other members.
 */
import type { Delegation, DelegationOutline } from '../../contracts/delegation.ts';
import type { TeamOutline } from '../../contracts/team.ts';
import type { TriadOutline } from '../../contracts/triad.ts';
import { hashTask } from '../team/hash-task.ts';
import { hashText } from '../text/hash-text.ts';

export function fingerprintDelegation(
  d: Pick<Delegation, 'task_description'> &
    Pick<DelegationOutline, 'agent_id' | 'required_inputs' | 'criterion_ids'> & {
      readonly triad?: Pick<TriadOutline, 'type'> | undefined;
      readonly team?: Pick<TeamOutline, 'team_id' | 'members'> | undefined;
    },
): string {
  const work = [
    d.agent_id,
    hashTask(d.task_description),
    sortedSet(d.required_inputs),
    sortedSet(d.criterion_ids),
  ];
  if (d.team !== undefined)
    return hashText(JSON.stringify([...work, 'team', describeTeam(d.team)]));
  return hashText(JSON.stringify(d.triad === undefined ? work : [...work, d.triad.type]));
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
