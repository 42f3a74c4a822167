import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { TeamInput } from '../../contracts/team.ts';
import { checkNamedTeams } from '../../core/team/check-named-teams.ts';
import type { PlacedTeam } from '../../core/team/check-named-teams.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { RecordDeps } from './deps.ts';
import { joinSentences } from './input-fault.ts';
import type { InputFault } from './input-fault.ts';
import { choosesTeam, listDefinitionFields } from './seat-team.ts';
import { summariseAgent } from './summarise-agent.ts';

type Worker = Pick<RecordDeps, 'models' | 'isPriced' | 'middlewareNames'>;

interface TypedTeams {
  readonly placed: readonly PlacedTeam[];
  readonly agents: readonly AgentDefinition[];
  /** True when members may be triads. */
  readonly triads: boolean;
}

/** Finds faults of the teams in an input, whatever other faults it has. */
export function checkTypedTeams(
  worker: Worker,
  { placed, agents, triads }: TypedTeams,
): readonly InputFault[] {
  const drafts = placed.map(({ draft }) => draft);
  const seated = drafts.flatMap(({ members = [] }) =>
    members.flatMap(({ triad }) => triad?.members ?? []),
  );
  const faults = checkNamedTeams(placed, {
    agents: agents.map((agent) => summariseAgent(agent)),
    triads,
    // A typed model may belong to a provider that the worker does not know.
    models: seated.flatMap(({ model }) => model ?? []),
    leaderModels: listLeaderModels(
      worker,
      agents,
      drafts.flatMap(({ model }) => model ?? []),
    ),
    middlewares: worker.middlewareNames,
  });
  return faults.map(({ path, reason, hint }) => ({ path, reason: joinSentences(reason, hint) }));
}

/** @returns null when the provider's models are unknown. */
function listLeaderModels(
  { models, isPriced }: Worker,
  agents: readonly AgentDefinition[],
  typed: readonly string[],
): readonly string[] | null {
  if (models.length === 0) return null;
  const ofAgents = agents.flatMap(({ model }) => model ?? []);
  return [...new Set([...ofAgents, ...models, ...typed.filter(isPriced)])];
}

/**
 * Checks that an input that names one of its `teams` defines nothing more of it; one that names none defines its own.
 */
export function checkTeamRequest(input: TeamInput): readonly InputFault[] {
  const { team_id, teams = [], members } = input;
  if (team_id === undefined) return [];
  if (choosesTeam(input)) {
    return listDefinitionFields(input).map((path) => ({
      path,
      reason: `the team "${team_id}" of teams brings its own. Try: leave it out here, or give this team another team_id`,
    }));
  }
  if (members !== undefined) return [];
  const names = teams.map((team) => team.team_id);
  const reason = `there is no team "${team_id}" in teams. Teams are: ${listNames(names)}`;
  return [{ path: 'team_id', reason: `${reason}. Try: one of them, or members` }];
}
