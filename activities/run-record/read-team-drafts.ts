import { z } from 'zod';
import { NamedTeam, TeamMember } from '../../contracts/team.ts';
import { thisTeamId } from '../../contracts/names.ts';
import { isRecord } from '../../core/is-record.ts';
import type { PlacedTeam } from '../../core/team/check-named-teams.ts';
import type { MemberDraft, TeamDraft } from '../../core/team/team-draft.ts';
import type { WorkflowType } from './input-fault.ts';

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
