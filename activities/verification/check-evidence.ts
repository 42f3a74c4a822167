import { resolve } from 'node:path';
import { Validator } from '@cfworker/json-schema';
import type { CheckResult, EvidenceCheck } from '../../contracts/verification.ts';
import { commandLimits } from '../../core/command-limits.ts';
import { plainPath } from '../../core/effects/check-workspace-path.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { CommandRunner } from '../ports/command-runner.ts';
import {
  WorkspaceRefused,
  type FileContent,
  type WorkspacePlace,
  type Workspaces,
} from '../ports/workspaces.ts';
import type { Worktrees } from '../ports/worktrees.ts';
import { messageOf } from '../../core/text/message-of.ts';

export interface EvidenceDeps {
  readonly store: ArtifactStore;
  readonly workspaces: Pick<Workspaces, 'folderOf' | 'read' | 'copyOwn' | 'dropOwn'>;
  readonly worktrees: Worktrees;
  /** Runs the commands of checks. Null where there are none. */
  readonly commands: CommandRunner | null;
}

/** Characters of a command's output that people and agents see: its end, where programs say what failed. */
const outputCharsMax = 1_500;

interface Checking<C extends EvidenceCheck = EvidenceCheck> {
  readonly check: C;
  readonly place: WorkspacePlace;
  readonly signal: AbortSignal;
  /** Standard input of a command. If undefined, it is empty. */
  readonly stdin?: string;
}

type Found = Omit<CheckResult, 'criterion_id'>;

/** Makes one check of evidence. A check that can't be made is `not_run`, and left to the verifier. */
export async function checkEvidence(
  deps: Omit<EvidenceDeps, 'store'>,
  { check, ...rest }: Checking,
): Promise<Found> {
  switch (check.kind) {
    case 'command':
      return checkCommand(deps, { check, stdin: '', ...rest });
    case 'file':
      return checkFile(deps, { check, ...rest });
    case 'schema':
      return checkSchema(deps, { check, ...rest });
    case 'unchanged':
      return checkUnchanged(deps, { check, ...rest });
  }
}

async function checkCommand(
  { commands, workspaces }: Pick<EvidenceDeps, 'commands' | 'workspaces'>,
  {
    check: { argv, exit_code },
    place,
    signal,
    stdin,
  }: Checking<Extract<EvidenceCheck, { kind: 'command' }>> & { readonly stdin: string },
): Promise<Found> {
  const check = `exit code ${exit_code} of ${cutText(argv.join(' '), 200)}`;
  if (commands === null || !commands.confined) {
    const found = 'Commands run in no sandbox here, so code runs none unasked.';
    return { check, result: 'not_run', found };
  }
  const { dir } = place;
  const endLeftovers = (left: string): Promise<void> => commands.endLeftovers(left);
  const opened = await openCopy(workspaces, place, endLeftovers);
  if (typeof opened !== 'string') return { check, result: 'not_run', found: opened.refused };
  const folder = opened;
  if (dir !== null && resolve(dir) === folder) {
    const found = 'The run works in your folder itself, so nothing could put back what it changes.';
    return { check, result: 'not_run', found };
  }
  if (dir !== null) await endLeftovers(folder);
  const sharedFrom = dir;
  const timeoutMs = commandLimits.secondsDefault * 1_000;
  try {
    const end = await commands.run({ folder, sharedFrom, argv, cwd: '', stdin, timeoutMs }, signal);
    const ended =
      end.ending === 'exited' ? `exit code ${end.exit_code}` : `killed at a limit (${end.ending})`;
    const output = end.output.slice(-outputCharsMax);
    const hasPassed = end.ending === 'exited' && end.exit_code === exit_code;
    return { check, result: hasPassed ? 'passed' : 'failed', found: `${ended}\n${output}` };
  } catch (error) {
    signal.throwIfAborted();
    const found = `It could not be started: ${messageOf(error)}`;
    return { check, result: 'failed', found };
  }
}

/** @returns why there is no copy, if the run's own folder can't be copied: the work itself may be right. */
async function openCopy(
  workspaces: EvidenceDeps['workspaces'],
  place: WorkspacePlace,
  endLeftovers: (left: string) => Promise<void>,
): Promise<string | { readonly refused: string }> {
  if (place.dir !== null) return workspaces.folderOf(place);
  try {
    // A run's own folder belongs to all its delegations, which may be at work there.
    return await workspaces.copyOwn(place, endLeftovers);
  } catch (error) {
    if (error instanceof WorkspaceRefused) return { refused: error.message };
    throw error;
  }
}

async function checkFile(
  deps: Pick<EvidenceDeps, 'workspaces'>,
  { check: { path, sha256 }, place }: Checking<Extract<EvidenceCheck, { kind: 'file' }>>,
): Promise<Found> {
  const check = sha256 === null ? `file ${path}` : `file ${path} with SHA-256 ${sha256}`;
  const file = await readFile(deps, place, path);
  if (typeof file === 'string') return { check, result: 'failed', found: file };
  const fits = sha256 === null || sha256 === file.sha256;
  const found = `${file.bytes} bytes, SHA-256 ${file.sha256}`;
  return { check, result: fits ? 'passed' : 'failed', found };
}

async function checkSchema(
  deps: Pick<EvidenceDeps, 'workspaces'>,
  { check: { path, schema }, place }: Checking<Extract<EvidenceCheck, { kind: 'schema' }>>,
): Promise<Found> {
  const check = `file ${path} fits its JSON Schema`;
  const file = await readFile(deps, place, path);
  if (typeof file === 'string') return { check, result: 'failed', found: file };
  const { valid, found } = validateJson(schema, Buffer.from(file.content).toString('utf8'));
  return { check, result: valid ? 'passed' : 'failed', found };
}

/** Validates a text as JSON of a schema. Never throws. */
export function validateJson(
  schema: Record<string, unknown>,
  text: string,
): { readonly valid: boolean; readonly found: string } {
  try {
    const value: unknown = JSON.parse(text);
    const { valid, errors } = new Validator(schema, '2020-12', false).validate(value);
    const found = errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
    return { valid, found: valid ? 'It fits.' : cutText(found.join(' · '), outputCharsMax) };
  } catch (error) {
    const found = `It is no JSON, or the schema is none: ${messageOf(error)}`;
    return { valid: false, found: cutText(found, outputCharsMax) };
  }
}

async function checkUnchanged(
  { worktrees }: Pick<EvidenceDeps, 'worktrees'>,
  { check: { paths }, place }: Checking<Extract<EvidenceCheck, { kind: 'unchanged' }>>,
): Promise<Found> {
  const check = `unchanged: ${cutText(paths.join(', '), 400)}`;
  const touched = await worktrees.listTouched(place);
  if (touched === null) {
    return { check, result: 'not_run', found: 'There is no copy that could be compared.' };
  }
  const kept = paths.map(plainPath);
  const changed = touched
    .map(({ path }) => path)
    .filter((path) => kept.some((one) => path === one || path.startsWith(`${one}/`)));
  if (changed.length === 0) return { check, result: 'passed', found: 'They are unchanged.' };
  return { check, result: 'failed', found: `Changed: ${listNames(changed)}` };
}

/** @returns why it can't be read, if it can't. */
async function readFile(
  { workspaces }: Pick<EvidenceDeps, 'workspaces'>,
  place: WorkspacePlace,
  path: string,
): Promise<FileContent | string> {
  try {
    return await workspaces.read(place, path);
  } catch (error) {
    if (error instanceof WorkspaceRefused) return error.message;
    throw error;
  }
}
