/**
 * What the teams must keep that a person gives names to: each for itself, and together.
 *
 * Invariants:
 *   TNM1. A name belongs to one team.
 *   TNM2. No teams contain each other; each ring is shown A→B→A, at the member that closes it.
 */
import type { OutputFault } from '../../contracts/output-fault.ts';
import { cutText } from '../text/cut-text.ts';
import { checkTeam } from './check-team.ts';
import { findTeamRings, summariseTeams } from './summarise-teams.ts';
import type { TeamContext, TeamDraft } from './team-draft.ts';

export interface PlacedTeam {
  readonly draft: TeamDraft;
  /** What the paths of its faults begin with: empty, or with a point at its end. */
  readonly at: string;
}

/** @returns every fault at once; empty when all of them can go to work. */
export function checkNamedTeams(
  placed: readonly PlacedTeam[],
  context: Omit<TeamContext, 'teams'>,
): OutputFault[] {
  const drafts = placed.map(({ draft }) => draft);
  const whole: TeamContext = { ...context, teams: summariseTeams(drafts, context.agents) };
  const rings = findTeamRings(drafts).map((ring) => describeRing(ring, placed));
  const faults = placed.flatMap(({ draft, at }) => checkTeam(draft, whole, at));
  // Who closes a ring is too deep as well, and mends it by the same.
  const others = faults.filter(({ path }) => !rings.some((ring) => ring.path === path));
  return [...others, ...checkNames(placed), ...rings];
}

function checkNames(placed: readonly PlacedTeam[]): OutputFault[] {
  const names = placed.map(({ draft }) => draft.team_id);
  return placed.flatMap(({ draft: { team_id }, at }, i) => {
    if (team_id === undefined || names.indexOf(team_id) === i) return [];
    const reason = `"${cutText(team_id, 60)}" is the name of another team already`;
    return [{ path: `${at}team_id`, reason, hint: 'Try: a team_id of its own for each team' }];
  });
}

function describeRing(ring: readonly string[], placed: readonly PlacedTeam[]): OutputFault {
  const [from, to] = ring.slice(-2);
  const place = placed.find(({ draft }) => draft.team_id === from);
  const member = place?.draft.members?.findIndex(({ team_id }) => team_id === to);
  return {
    path: `${place?.at ?? ''}members[${member ?? 0}].team_id`,
    reason: `these teams contain each other: ${ring.join('→')}`,
    hint: 'Try: take one of them out of the other',
  };
}
