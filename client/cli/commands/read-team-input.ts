import { TeamInput } from '../../../contracts/team.ts';
import type { CliDeps } from '../cli-deps.ts';
import { badInput } from '../cli-error.ts';
import { checkInput } from '../../check-input.ts';
import { readJsonFile } from './json-file.ts';
import { isRecord, definedOnly } from '../../../core/json.ts';
import { readSettings, type SettingsOptions } from './run-settings-options.ts';
import { commandText } from '../../../core/text/format.ts';

export interface TeamOptions extends SettingsOptions {
  /** As typed: ids with commas between them. */
  readonly members?: string;
  readonly team?: string;
  readonly teamFile?: string;
  readonly leader?: string;
  readonly model?: string;
  readonly instructions?: string;
  readonly parallel?: boolean;
  readonly maxParallel?: number;
  readonly maxDelegations?: number;
  readonly timeout?: number;
  readonly memberTimeout?: number;
  readonly maxRetries?: number;
  readonly thread?: string;
  readonly user?: string;
  readonly criterion?: readonly string[];
  readonly stream?: boolean;
  readonly detach?: boolean;
}

/**
 * The input of a team: the file's fields, and over them what was given on the command line. What is wrong with members and
 * limits, the engine says when it opens the team.
 *
 * @throws CliError with every fault of its form at once
 */
export async function readTeamInput(
  deps: Pick<CliDeps, 'cwd' | 'io'>,
  message: string | undefined,
  options: TeamOptions,
): Promise<TeamInput> {
  const file = options.teamFile === undefined ? {} : await readTeamFile(deps, options.teamFile);
  const merged = {
    ...file,
    ...definedOnly({
      message,
      team_id: options.team ?? file['team_id'] ?? soleTeam(file, options),
      members: options.members === undefined ? undefined : listIds(options.members),
      leader: options.leader,
      model: options.model,
      instructions: options.instructions,
      allow_parallel: options.parallel,
      max_parallel: options.maxParallel,
      max_delegations: options.maxDelegations,
      timeout: options.timeout,
      member_timeout: options.memberTimeout,
      max_retries: options.maxRetries,
      thread_id: options.thread,
      user_id: options.user,
      acceptance_criteria: options.criterion,
    }),
    ...readSettings(deps, file, options),
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
function soleTeam(file: Readonly<Record<string, unknown>>, { members }: TeamOptions): unknown {
  const { teams } = file;
  if ('members' in file || members !== undefined || !Array.isArray(teams)) return undefined;
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
