import type { TeamOutcome } from '../../contracts/team-run.ts';
import type { Usage } from '../../contracts/usage.ts';
import { formatCost } from '../../contracts/format-cost.ts';
import { sumTeamUsage } from '../../core/team/bound-team.ts';
import { formatTokens } from '../../core/usage/format-tokens.ts';
import { table } from './markdown.ts';

/** Who did what for a team, and what each cost: a table with a sum. `executor_id` says who a member is. */
export function renderTeamCosts(team: Pick<TeamOutcome, 'leader' | 'members'>): string {
  const { leader, members } = team;
  const tasks = members.reduce((sum, { delegations }) => sum + delegations, 0);
  return table(
    ['who', 'what it is', 'tasks', 'calls', 'cost', 'tokens'],
    [
      ['leader', `agent ${leader.agent_id}`, '', ...costOf(leader.usage)],
      ...members.map(({ member_id, executor_id, delegations, usage }) => [
        `\`${member_id}\``,
        executor_id.replace(/^(?:agent|team):/, (kind) => kind.replace(':', ' ')),
        String(delegations),
        ...costOf(usage),
      ]),
      ['**all**', '', String(tasks), ...costOf(sumTeamUsage(team))],
    ],
  );
}

function costOf(usage: Usage): string[] {
  return [String(usage.calls), formatCost(usage), formatTokens(usage)];
}
