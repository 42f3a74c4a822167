import type { Command } from 'commander';
import type { PlanwaveClient } from '../../planwave-client.ts';
import type { RunEnd } from '../../read-view.ts';
import { streamTeam } from '../../stream-team.ts';
import type { EndEvent, TeamEvent } from '../../team-event.ts';
import { tellEnd } from '../../tell-team.ts';
import { badInput, CliError, exitCodes } from '../cli-error.ts';
import {
  type CommandContext,
  type CommandResult,
  type CommandRunner,
  artifactHome,
} from '../command-runner.ts';
import { exitCodeOfEnd, toRunEndedEvent, type RunEndedEvent } from '../follow/follow-event.ts';
import { formatEvent } from '../follow/format-event.ts';
import { createTeamPrinter } from '../follow/presenter.ts';
import { cleanLine, safeJson } from '../terminal-text.ts';
import { TeamInput } from '../../../contracts/team.ts';
import { definedOnly, isRecord } from '../../../core/json.ts';
import { checkInput } from '../../check-input.ts';
import type { CliDeps } from '../cli-deps.ts';
import { readJsonFile } from './json-file.ts';
import {
  addOptions,
  limitOptions,
  mergeInput,
  questionOptions,
  signerOption,
  readWholeNumberOrNone,
  workOptions,
  type InputOption,
  type InputOptions,
} from './input-options.ts';
import { workflowTypes } from '../../../contracts/names.ts';
import { checkBeforehand } from './start.ts';
import { follow } from './watch.ts';
import { commandText } from '../../../core/text/format.ts';

const teamOptions: readonly InputOption[] = [
  ['--members <ids>', 'agents of the team, for example researcher,writer', 'members', listIds],
  ['--team <id>', 'name of a team in --team-file'],
  ['--team-file <file>', 'JSON file with a team, or with a list of named teams'],
  ['--leader <agent>', 'agent that leads; default: the shipped leader', 'leader'],
  ['--model <model>', "model for the lead agent; default: the agent's own", 'model'],
  ['--instructions <text>', 'additional instructions for the leader', 'instructions'],
  ['--parallel', 'let members work in parallel', 'allow_parallel'],
  ['--max-parallel <count>', 'members that work in parallel; default: 3', 'max_parallel'],
  [
    '--max-delegations <count>',
    'tasks that the leader may delegate; default: 10',
    'max_delegations',
  ],
  ['--timeout <seconds>', 'working time of the whole team; default: 1200', 'timeout'],
  ['--member-timeout <seconds>', 'working time per task; default: 400', 'member_timeout'],
  [
    '--max-retries <count>',
    'retries of a failed task; default: 1',
    'max_retries',
    readWholeNumberOrNone,
  ],
  ['--thread <id>', 'thread that the team reads and adds to', 'thread_id'],
  ['--user <id>', "person stored with the thread's entries", 'user_id'],
  [
    '--criterion <text...>',
    'acceptance criterion: must be met with evidence',
    'acceptance_criteria',
  ],
  ['--stream', 'print the text of leader and members as they write it'],
  ['--detach', 'start the team and return'],
  signerOption,
  ['--id <run>', 'id of the run; default: derived from the message'],
  ...workOptions,
  ...questionOptions,
  ...limitOptions,
];

interface TeamOptions extends InputOptions {
  readonly team?: string;
  readonly teamFile?: string;
  readonly stream?: boolean;
  readonly detach?: boolean;
  readonly as?: string;
}

export function registerTeam(command: Command, runner: CommandRunner): void {
  addOptions(command, teamOptions).action(runner(runTeam));
}

async function runTeam(
  context: CommandContext,
  message: string | undefined,
  options: TeamOptions,
): Promise<CommandResult> {
  const input = await readTeamInput(context.deps, message, options);
  if (options.check !== false)
    await checkBeforehand(context, workflowTypes.team, input, options.id);
  const { client } = await context.session();
  const { run_id } = await client.startTeam(input, { run_id: options.id });
  const data = { run_id, watch: commandText('watch', run_id) };
  const { stdout } = context.deps.io;
  if (options.detach === true) {
    return { data, lines: [`Started ${run_id}.`, `Watch it with: ${data.watch}`] };
  }
  if (options.stream === true) {
    stdout.write(
      context.json ? `${safeJson({ type: 'started', ...data })}\n` : `Started ${run_id}.\n`,
    );
    return showStream(context, client, run_id);
  }
  if (context.json) return waitForAnswer(context, client, run_id);
  stdout.write(`Started ${run_id}.\n`);
  const followed = await follow(context, run_id, {
    defaults: options.defaults === true,
    as: options.as,
  });
  if (followed.exitCode !== exitCodes.interrupted) {
    const lines = await describeCosts(context, client, run_id);
    if (lines.length > 0) stdout.write(`${lines.join('\n')}\n`);
  }
  return followed;
}

/**
 * The input of a team: the file's fields, and over them what was given on the command line. What is wrong with members and
 * limits, the engine says when it opens the team.
 *
 * @throws CliError with every fault of its form at once
 */
async function readTeamInput(
  deps: Pick<CliDeps, 'cwd' | 'io'>,
  message: string | undefined,
  options: TeamOptions,
): Promise<TeamInput> {
  const file = options.teamFile === undefined ? {} : await readTeamFile(deps, options.teamFile);
  const team_id = options.team ?? file['team_id'] ?? soleTeam(file, options);
  const merged = {
    ...mergeInput(deps.cwd, file, options, teamOptions),
    ...definedOnly({ team_id, message }),
  };
  if (!('message' in merged)) throw badInput(`A message is missing. Try: ${example}`);
  if (!('members' in merged) && !('team_id' in merged)) {
    throw badInput(describeMissingTeam(file));
  }
  return checkInput(TeamInput, merged, { of: 'team', file: options.teamFile });
}

const example = commandText('team', 'Compare three ways to …', '--members', 'researcher,writer');

/** `researcher, writer` → the two ids. */
function listIds(text: string): string[] {
  return text
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');
}

/** Asks for a choice when the file lists several teams. */
function describeMissingTeam({ teams }: Readonly<Record<string, unknown>>): string {
  const listed: readonly unknown[] = Array.isArray(teams) ? teams : [];
  const names = listed.flatMap((team) => (isRecord(team) ? [String(team['team_id'])] : []));
  const [first] = names;
  if (first === undefined) return `The team has no members. Try: ${example}`;
  return `The file has ${names.length} teams: ${names.join(', ')}. Try: --team ${first}`;
}

/** Returns the name of the file's only team, unless members are given. */
function soleTeam(file: Readonly<Record<string, unknown>>, options: TeamOptions): unknown {
  const { teams } = file;
  if ('members' in file || options['members'] !== undefined || !Array.isArray(teams))
    return undefined;
  const [only, ...others]: readonly unknown[] = teams;
  return others.length === 0 && isRecord(only) ? only['team_id'] : undefined;
}

/** A whole input, or a list of teams that have names. */
async function readTeamFile(
  deps: Pick<CliDeps, 'cwd' | 'io'>,
  name: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { value, where } = await readJsonFile(deps, name);
  if (Array.isArray(value)) return { teams: value };
  if (isRecord(value)) return value;
  throw badInput(
    `${where}: expected one JSON object, or a list of teams with names. ` +
      'Try: {"members":["researcher","writer"]}, or [{"team_id":"studio","members":[{"id":"writer"}]}]',
  );
}

/** Describes the costs, which the end event does not include. */
async function describeCosts(
  { paint }: CommandContext,
  client: PlanwaveClient,
  runId: string,
): Promise<string[]> {
  const end = await client.result(runId);
  if (end?.ended !== 'part') return [];
  return tellEnd(end).flatMap((event) => (event.type === 'end' ? formatEvent(event, paint) : []));
}

async function showStream(
  context: CommandContext,
  client: PlanwaveClient,
  runId: string,
): Promise<CommandResult> {
  const { io } = context.deps;
  const printer = createTeamPrinter(io.stdout, context.paint);
  return untilEnd(context, client, runId, (event) => {
    if (context.json) io.stdout.write(`${safeJson(event)}\n`);
    else printer.tell(event);
  });
}

/** One document for scripts. What waits for a person is said on standard error, for the document comes after it. */
async function waitForAnswer(
  context: CommandContext,
  client: PlanwaveClient,
  runId: string,
): Promise<CommandResult> {
  let [answer, end]: [string, EndEvent | null] = ['', null];
  const { exitCode, result_path, report_path } = await untilEnd(context, client, runId, (event) => {
    if (event.type === 'answer') answer = event.text;
    if (event.type === 'end') end = event;
    if (event.type === 'question') {
      const { question_id, text } = event.question;
      context.deps.io.stderr.write(
        `${cleanLine(`${question_id} waits for an answer: ${text}`)}\n  answer with: ${event.command}\n`,
      );
    }
  });
  const { type: _type, ...told }: Partial<EndEvent> = end ?? {};
  return {
    data: { run_id: runId, answer, ...told, result_path, report_path },
    lines: [],
    exitCode,
  };
}

/** With where `result.md` and `report.md` are. */
interface StreamResult extends CommandResult, Pick<RunEndedEvent, 'result_path' | 'report_path'> {}

/** Hands on what happens until the team is at its end, or Ctrl-C. */
async function untilEnd(
  context: CommandContext,
  client: PlanwaveClient,
  runId: string,
  tell: (event: TeamEvent) => void,
): Promise<StreamResult> {
  const { io } = context.deps;
  const leaving = new AbortController();
  const undo = io.onInterrupt(() => {
    leaving.abort();
  });
  try {
    let lost: string | null = null;
    for await (const event of streamTeam(client, runId, { signal: leaving.signal })) {
      if (event.type === 'error' && event.code !== 'team_failed') lost = event.message;
      tell(event);
    }
    if (leaving.signal.aborted) return leave(context, runId);
    if (lost !== null) {
      throw new CliError('unreachable', exitCodes.unreachable, comeBack(runId, lost));
    }
  } finally {
    undo();
  }
  return readEnd(context, client, runId);
}

function leave({ deps, json }: CommandContext, runId: string): StreamResult {
  const out = json ? deps.io.stderr : deps.io.stdout;
  out.write(`${comeBack(runId, `Run ${runId} goes on without you.`)}\n`);
  return {
    data: undefined,
    lines: [],
    exitCode: exitCodes.interrupted,
    result_path: null,
    report_path: null,
  };
}

function comeBack(runId: string, why: string): string {
  return `${why} Come back with: ${commandText('watch', runId)}`;
}

async function readEnd(
  context: CommandContext,
  client: PlanwaveClient,
  runId: string,
): Promise<StreamResult> {
  const [end, run] = await Promise.all([client.result(runId), client.describe(runId)]);
  const known: RunEnd = end ?? { ended: 'failed', type: null, reason: '' };
  const event = toRunEndedEvent(run, known, artifactHome(context));
  const exitCode = exitCodeOfEnd(known, event.status);
  const { result_path, report_path } = event;
  return { data: undefined, lines: [], exitCode, result_path, report_path };
}
