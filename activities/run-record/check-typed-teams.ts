import { z } from 'zod';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import { thisTeamId } from '../../contracts/names.ts';
import { NamedTeam, TeamMember } from '../../contracts/team.ts';
import type { TeamInput } from '../../contracts/team.ts';
import { isRecord } from '../../core/is-record.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { RecordDeps } from './deps.ts';
import { joinSentences } from './describe-input-issues.ts';
import type { InputFault, WorkflowType } from './describe-input-issues.ts';
import { summariseAgent } from './load-registry.ts';
import { choosesTeam, listDefinitionFields } from './seat-team.ts';
import { checkNamedTeams } from '../../core/team/check-team.ts';
import type { PlacedTeam } from '../../core/team/check-team.ts';
import type { MemberDraft, TeamDraft } from '../../core/team/summarise-teams.ts';

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

/** Most teams that are read. More are a fault of the input's shape. */
const draftsMax = 20;

/** Unknown fields are ignored here: they are a fault of the input's shape. */
const memberFields = z.object(TeamMember.shape).partial();
const teamFields = z.object(NamedTeam.shape).omit({ members: true }).partial();

/**
 * Reads every team of an input as far as possible, so that all faults of a team are reported at once, whatever other
 * faults the input has.
 */
export function readTeamDrafts(type: WorkflowType, input: unknown): readonly PlacedTeam[] {
  if (!isRecord(input)) return [];
  const named = readList(input['teams'])
    .slice(0, draftsMax)
    .flatMap((team, i) => (isRecord(team) ? [{ draft: readTeam(team), at: `teams[${i}].` }] : []));
  if (type === 'plannerRun' || type === 'plannerWave') return named;
  if (type !== 'team') return [];
  const team_id = input['team_id'] ?? thisTeamId;
  if (named.some(({ draft }) => draft.team_id === team_id) && 'team_id' in input) return named;
  return [{ draft: readTeam({ ...input, team_id }), at: '' }, ...named];
}

function readTeam(raw: Readonly<Record<string, unknown>>): TeamDraft {
  const { value, unread } = readFields(teamFields, raw);
  const members = raw['members'];
  if (members === undefined) return { ...value, unread };
  if (!Array.isArray(members)) return { ...value, unread: [...unread, 'members'] };
  return { ...value, unread, members: readList(members).map(readMember) };
}

function readMember(raw: unknown): MemberDraft {
  if (typeof raw === 'string') return { id: raw, bare: true };
  if (!isRecord(raw)) return {};
  const { value, unread } = readFields(memberFields, raw);
  return { ...value, unread };
}

function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the valid fields, and the names of the invalid ones. */
function readFields<S extends z.ZodObject>(
  schema: S,
  raw: Readonly<Record<string, unknown>>,
): { readonly value: z.infer<S>; readonly unread: readonly string[] } {
  const given = Object.keys(schema.shape).filter((key) => raw[key] !== undefined);
  const fits = (key: string): boolean => schema.shape[key]?.safeParse(raw[key]).success === true;
  const readable = given.filter(fits).map((key) => [key, raw[key]]);
  return {
    value: schema.parse(Object.fromEntries(readable)),
    unread: given.filter((key) => !fits(key)),
  };
}
