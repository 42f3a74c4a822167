import { InvalidArgumentError, type Command } from 'commander';
import { workflowTypes } from '../../../contracts/names.ts';
import { commandText } from '../../../core/text/format.ts';
import {
  overlapPolicies,
  type ListedSchedule,
  type NewSchedule,
  type Overlap,
  type Schedules,
} from '../../schedules.ts';
import { formatTime } from '../../format-time.ts';
import { badInput } from '../cli-error.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { cleanLine, renderTable } from '../terminal-text.ts';
import { addOptions, createChoice } from './input-options.ts';
import {
  checkBeforehand,
  goalOptions,
  readRunInput,
  runSettings,
  type RunOptions,
} from './start.ts';

interface CreateOptions extends RunOptions {
  readonly cron?: string;
  /** Seconds. */
  readonly every?: number;
  readonly timeZone?: string;
  readonly overlap: Overlap;
  readonly note?: string;
  readonly paused?: boolean;
}

/** Runs that the server starts by the clock. */
export function registerSchedule(schedule: Command, runner: CommandRunner): void {
  registerCreate(schedule, runner);
  schedule
    .command('list')
    .description('show all schedules, with their next start and their last run')
    .action(runner(listSchedules));
  const on = (
    name: 'pause' | 'resume' | 'trigger' | 'delete',
    does: string,
    done: string,
    isNoted: boolean,
  ): void => {
    const command = schedule
      .command(name)
      .argument('<schedule>', 'id of the schedule')
      .description(does);
    if (isNoted) command.argument('[note...]', 'reason, shown in the list');
    command.action(
      runner((context, id: string, words: readonly string[] | object) =>
        change(context, { name, id, note: Array.isArray(words) ? words.join(' ') : '', done }),
      ),
    );
  };
  on('pause', 'start no more runs until resume', 'Paused', true);
  on('resume', 'start runs again', 'Resumed', true);
  on('trigger', 'start a run now, whatever the time', 'Started a run of', false);
  on('delete', 'delete a schedule; its runs go on', 'Deleted', false);
}

function registerCreate(schedule: Command, runner: CommandRunner): void {
  const command = schedule
    .command('create')
    .argument('<schedule>', 'id of the schedule: ids of its runs begin with it')
    .argument('[goal]', 'goal of each run, in quotes')
    .description('start a run for a goal again and again')
    .option('--cron <expression>', 'when: minute, hour, day of month, month and day of week')
    .option('--every <time>', 'or time between starts, for example 30m, 2h or 1d', readTime)
    .option('--time-zone <name>', 'time zone of --cron, for example Europe/Berlin; default: UTC')
    .option(
      '--overlap <policy>',
      `when the run before has not ended: ${Object.keys(overlapPolicies).join(', ')}`,
      createChoice(Object.keys(overlapPolicies)),
      'skip',
    )
    .option('--note <text>', 'note, shown in the list')
    .option('--paused', 'start nothing before it is resumed');
  addOptions(command, [...runSettings, ...goalOptions]).action(runner(createSchedule));
}

async function createSchedule(
  context: CommandContext,
  schedule_id: string,
  goal: string | undefined,
  options: CreateOptions,
): Promise<CommandResult> {
  const when = readWhen(schedule_id, options);
  const input = await readRunInput(context.deps, goal, options);
  if (options.check !== false) await checkBeforehand(context, workflowTypes.plannerRun, input);
  const { client } = await context.session();
  const { timeZone: time_zone, overlap, note, paused } = options;
  await client.schedules.create({ schedule_id, input, when, time_zone, overlap, note, paused });
  const list = commandText('schedule', 'list');
  return {
    data: { schedule_id, list },
    lines: [
      `Created ${schedule_id}. Its runs are called ${schedule_id}-<time>.`,
      `See the next start with: ${list}`,
    ],
  };
}

/** @throws CliError unless exactly one of both was given */
function readWhen(id: string, { cron, every, timeZone }: CreateOptions): NewSchedule['when'] {
  const example = commandText('schedule', 'create', id, '…', '--cron', '0 2 * * *');
  if (cron !== undefined && every === undefined) return { cron };
  if (every === undefined || cron !== undefined)
    throw badInput(`Expected --cron or --every. Try: ${example}`);
  if (timeZone !== undefined) throw badInput(`--time-zone needs --cron. Try: ${example}`);
  return { every_seconds: every };
}

const seconds = { m: 60, h: 3_600, d: 86_400 } as const;

function readTime(typed: string): number {
  const [, count = '', unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(typed) ?? [];
  if (unit === 'm' || unit === 'h' || unit === 'd') return Number(count) * seconds[unit];
  throw new InvalidArgumentError('Expected minutes, hours or days, as 30m, 2h or 1d.');
}

async function listSchedules({ session, paint }: CommandContext): Promise<CommandResult> {
  const { client } = await session();
  const schedules = await client.schedules.list();
  const create = commandText('schedule', 'create', 'nightly', 'your goal', '--cron', '0 2 * * *');
  if (schedules.length === 0)
    return { data: { schedules }, lines: [`No schedules. Try: ${create}`] };
  const rows = schedules.map((one) => [
    cleanLine(one.schedule_id),
    one.paused ? paint('attention', 'paused') : 'active',
    cleanLine(one.when, 40),
    one.next_at === null ? '' : formatTime(one.next_at),
    cleanLine(one.last_run_id ?? '', 80),
    cleanLine(describeSubject(one), 60),
  ]);
  const head = ['schedule', 'state', 'when', 'next (UTC)', 'last run', 'goal'];
  return { data: { schedules }, lines: renderTable(head, rows) };
}

function describeSubject({ goal, note }: ListedSchedule): string {
  return note === '' ? goal : `${note}: ${goal}`;
}

interface Change {
  readonly name: Exclude<keyof Schedules, 'create' | 'list'>;
  readonly id: string;
  /** Empty for none. */
  readonly note: string;
  readonly done: string;
}

async function change(
  { session }: CommandContext,
  { name, id, note, done }: Change,
): Promise<CommandResult> {
  const { client } = await session();
  await client.schedules[name](id, ...(note === '' ? [] : ([note] as const)));
  return { data: { schedule_id: id, [name]: true }, lines: [`${done} ${cleanLine(id)}.`] };
}
