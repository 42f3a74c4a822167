/**
 * Tells whether two delegations would do the same again.
 *
 * Invariants:
 *   F1. The order and repetition of inputs and criteria do not change the fingerprint; agent, task, inputs and criteria do.
 *       Two tasks that `hashTask` reads as one are one.
 *   F2. A triad is another executor than an agent, and than a triad of another type.
 *   F3. A team is another executor than an agent and a triad, and than a team of another name or with other members.
 */
import type { Delegation, DelegationOutline } from '../../contracts/delegation.ts';
import type { TeamOutline } from '../../contracts/team.ts';
import type { TriadOutline } from '../../contracts/triad.ts';
import { hashTask } from '../team/fingerprint-task.ts';
import { hashText } from '../text/hash-text.ts';

/** What makes one executor another than the next. */
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

/** Its name, or who sits in it. */
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

/** In the order of code units, which is the same everywhere. */
function sortedSet(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted();
}
