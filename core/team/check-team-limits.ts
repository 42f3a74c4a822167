import type { OutputFault } from '../../contracts/output-fault.ts';
import { defaultTeam, engineLimits } from '../limits.ts';
import type { TeamDraft } from './team-draft.ts';

interface Range {
  readonly least: number;
  readonly max: number;
  readonly unit: string;
  /** True when fractions are allowed. */
  readonly isContinuous?: true;
}

/** Shortest time limit. A shorter one would end a task before its first word, and its timers would fill the history. */
const secondsMin = 1;

const { teamDelegationsMax, taskRetriesMax, teamSecondsMax } = engineLimits;

const ranges: Readonly<Record<keyof typeof defaultTeam, Range>> = {
  max_parallel: { least: 1, max: teamDelegationsMax, unit: 'members at work' },
  max_delegations: { least: 1, max: teamDelegationsMax, unit: 'tasks' },
  timeout: { least: secondsMin, max: teamSecondsMax, unit: 'seconds', isContinuous: true },
  member_timeout: { least: secondsMin, max: teamSecondsMax, unit: 'seconds', isContinuous: true },
  max_retries: { least: 0, max: taskRetriesMax, unit: 'further attempts' },
};

/** Checks the limits of a team: each must be a number that it can work with (TCK4). */
export function checkTeamLimits(team: TeamDraft, at: string): OutputFault[] {
  return typedKeys(ranges).flatMap((field) => {
    const value = team[field];
    const range = ranges[field];
    if (value === undefined || isWithin(value, range)) return [];
    const { least, max, unit, isContinuous } = range;
    const expected = `a ${isContinuous ? '' : 'whole '}number from ${least} to ${max}`;
    return [
      {
        path: `${at}${field}`,
        reason: `expected ${expected} (${unit}), received ${value}`,
        hint: `Try: ${value > max ? max : defaultTeam[field]}, or leave it out`,
      },
    ];
  });
}

function isWithin(value: number, { least, max, isContinuous }: Range): boolean {
  return value >= least && value <= max && (isContinuous === true || Number.isInteger(value));
}

function typedKeys<K extends string>(record: Readonly<Record<K, unknown>>): K[] {
  return Object.keys(record).filter((key): key is K => key in record);
}
