import type { OutputFault } from '../../contracts/output-fault.ts';
import { defaultTeam, engineLimits } from '../limits.ts';
import type { TeamDraft } from './team-draft.ts';

interface Range {
  readonly max: number;
  /** Undefined: any number above 0. */
  readonly least?: number;
  readonly unit: string;
}

const { teamDelegationsMax, taskRetriesMax, teamSecondsMax } = engineLimits;

const ranges: Readonly<Record<keyof typeof defaultTeam, Range>> = {
  max_parallel: { least: 1, max: teamDelegationsMax, unit: 'members at work' },
  max_delegations: { least: 1, max: teamDelegationsMax, unit: 'tasks' },
  timeout: { max: teamSecondsMax, unit: 'seconds' },
  member_timeout: { max: teamSecondsMax, unit: 'seconds' },
  max_retries: { least: 0, max: taskRetriesMax, unit: 'further attempts' },
};

/** Limits of a team: each a number that it can work with (TCK4). */
export function checkTeamLimits(team: TeamDraft, at: string): OutputFault[] {
  return typedKeys(ranges).flatMap((field) => {
    const value = team[field];
    const range = ranges[field];
    if (value === undefined || isWithin(value, range)) return [];
    const { least, max, unit } = range;
    const expected =
      least === undefined
        ? `a number above 0, at most ${max}`
        : `a whole number from ${least} to ${max}`;
    return [
      {
        path: `${at}${field}`,
        reason: `expected ${expected} (${unit}), received ${value}`,
        hint: `Try: ${value > max ? max : defaultTeam[field]}, or leave it out`,
      },
    ];
  });
}

function isWithin(value: number, { least, max }: Range): boolean {
  if (!Number.isFinite(value) || value > max) return false;
  return least === undefined ? value > 0 : Number.isInteger(value) && value >= least;
}

function typedKeys<K extends string>(record: Readonly<Record<K, unknown>>): K[] {
  return Object.keys(record).filter((key): key is K => key in record);
}
