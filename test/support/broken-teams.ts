import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { treePaths, toRunDirectory } from '../../activities/projection/paths.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { TeamOutcome } from '../../contracts/team-run.ts';
import { isRecord } from '../../core/is-record.ts';
import { sumTeamUsage } from '../../core/team/bound-team.ts';
import { payloadTexts } from './broken-artifacts.ts';
import type { StoredHistory } from './histories.ts';

type DoneByTeam = DelegationOutcome & { readonly team: TeamOutcome };

/** Reports a team whose usage differs from that of its leader and its members, and one that ended without a file. */
export function findBrokenTeams(home: string, histories: readonly StoredHistory[]): string[] {
  const [root] = histories;
  if (root === undefined) return [];
  const folder = join(home, toRunDirectory(root.workflowId));
  const outcomes = histories.flatMap(({ history }) => outcomesIn(payloadTexts(history)));
  return outcomes.flatMap(({ delegation_id, usage, team }) => [
    ...(isDeepStrictEqual(sumTeamUsage(team), usage)
      ? []
      : [`usage: the team of ${delegation_id} says other than its leader and members`]),
    ...(existsSync(join(folder, treePaths.team(delegation_id)))
      ? []
      : [`files: the team of ${delegation_id} has none`]),
  ]);
}

function outcomesIn(texts: readonly string[]): DoneByTeam[] {
  const found: DoneByTeam[] = [];
  const visit = (value: unknown): void => {
    if (isDoneByTeam(value)) found.push(value);
    if (Array.isArray(value)) value.forEach(visit);
    else if (isRecord(value)) Object.values(value).forEach(visit);
  };
  for (const text of texts.filter((one) => one.includes('"report_ref"'))) visit(JSON.parse(text));
  return found;
}

/**
 * Returns true for a delegation of a team. A task of a team is none: it has the usage of all its attempts, and the team
 * of the last.
 */
function isDoneByTeam(value: unknown): value is DoneByTeam {
  return isRecord(value) && 'criteria_unmet' in value && isRecord(value['team']);
}
