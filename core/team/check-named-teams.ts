/**
 * Checks the teams that a person has named, each alone and all together.
 *
 * Invariants:
 *   TNM1. A name belongs to one team.
 *   TNM2. No teams contain each other; each ring is shown as A→B→A, at the member that closes it.
 */
import type { OutputFault } from '../../contracts/output-fault.ts';
import { cutText } from '../text/cut-text.ts';
import { checkTeam } from './check-team.ts';
import { findTeamRings, summariseTeams } from './summarise-teams.ts';
import type { TeamContext } from './team-context.ts';
import type { TeamDraft } from './team-draft.ts';

export interface PlacedTeam {
  readonly draft: TeamDraft;
  /** Prefix of its faults' paths: empty, or ending with a point. */
  readonly at: string;
}

/** @returns every fault at once; empty when all teams are valid. */
export function checkNamedTeams(
  placed: readonly PlacedTeam[],
  context: Omit<TeamContext, 'teams'>,
): OutputFault[] {
  const drafts = placed.map(({ draft }) => draft);
  const whole: TeamContext = { ...context, teams: summariseTeams(drafts, context.agents) };
  const rings = findTeamRings(drafts).map((ring) => describeRing(ring, placed));
  const faults = placed.flatMap(({ draft, at }) => checkTeam(draft, whole, at));
  // A team that closes a ring is also too deep, and the same change repairs both.
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
