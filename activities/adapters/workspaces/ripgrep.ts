import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { isRecord } from '../../../core/json.ts';
import { engineLimits } from '../../../core/limits.ts';
import { cutText } from '../../../core/text/cut-text.ts';
import {
  WorkspaceRefused,
  type SearchMatch,
  type SearchOrder,
  type SearchResult,
} from '../../ports/workspaces.ts';
import { redactedAroundChars, type RedactLines } from './read-file.ts';

/** Most characters of a matching line that are returned. */
export const lineCharsMax = 300;
/** Most matches in one file: more say nothing new. One more is asked for, so that the result says when there are more. */
const matchesPerFileMax = 100;
const errorCharsMax = 600;
/** Most characters of what ripgrep says about one line. A longer one is data, which would fill the memory. */
const recordCharsMax = 16_000_000;

export interface RipgrepPlace {
  readonly cwd: string;
  /** Paths below `cwd` that are left out. */
  readonly hidden: readonly string[];
  /** Lines of an ignore file for `cwd`, over which the ignore files below win. */
  readonly spared: readonly string[];
  /** True when those lines say all that ignore files say: then none is read. Default false. */
  readonly isSparedOnly?: boolean;
  readonly signal: AbortSignal;
  /** Defined in `read-file.ts`. */
  readonly redact: RedactLines;
  /** Returns the path to show for one below `cwd`; null to leave its matches out. */
  readonly pathOf: (inside: string) => Promise<string | null>;
}

/**
 * Searches with ripgrep, which reads the ignore files below `cwd`, follows no links, and takes linear time for any pattern.
 *
 * @throws {WorkspaceRefused} when the pattern is faulty, or this machine has no ripgrep.
 */
export async function runRipgrep(order: SearchOrder, place: RipgrepPlace): Promise<SearchResult> {
  const program = await findRipgrep();
  const own = place.isSparedOnly === true ? ['--no-ignore-vcs'] : [];
  const args = [...own, ...argumentsOf(order, place.hidden)];
  if (place.spared.length === 0) return search(program, args, place);
  const folder = await mkdtemp(join(tmpdir(), 'planwave-search-'));
  try {
    const file = join(folder, 'ignored');
    await writeFile(file, place.spared.map((line) => `${line}\n`).join(''));
    return await search(program, ['--ignore-file', file, ...args], place);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function search(
  program: string,
  args: readonly string[],
  place: RipgrepPlace,
): Promise<SearchResult> {
  const child = spawn(program, args, {
    cwd: place.cwd,
    // No variable of the worker reaches it, and so none of its settings.
    env: {},
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: place.signal,
  });
  const matches: SearchMatch[] = [];
  const ofFile = { path: '', matches: 0 };
  let isFull = false;
  let isCut = false;
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = cutText(said + text, errorCharsMax);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // Heard at once, although the lines are read first.
  ended.catch(() => undefined);
  for await (const line of readRecords(child.stdout)) {
    if (isFull) continue;
    if (line === null) {
      isCut = true;
      continue;
    }
    const match = await readMatch(line, place).catch((error: unknown) => {
      child.kill();
      throw error;
    });
    if (match === null) continue;
    // One file comes after the other.
    if (ofFile.path !== match.path) Object.assign(ofFile, { path: match.path, matches: 0 });
    ofFile.matches += 1;
    isFull = matches.length === engineLimits.searchMatchesMax;
    isCut ||= isFull || ofFile.matches > matchesPerFileMax;
    if (isFull) child.kill();
    else if (ofFile.matches <= matchesPerFileMax) matches.push(match);
  }
  const code = await ended;
  // 1: nothing was found. 2 with matches: single files could not be read.
  if (code === 2 && matches.length === 0) refuseFailed(said);
  return { matches, isCut };
}

function refuseFailed(said: string): void {
  if (said === '') return;
  throw new WorkspaceRefused(
    `The search failed: ${said.trim()} Try: a regular expression, with "\\\\" before each of ( ) [ ] { } . * + ? | that is meant literally.`,
  );
}

function argumentsOf({ pattern, ignoreCase }: SearchOrder, hidden: readonly string[]): string[] {
  const fixed = ['--no-config', '--json', '--hidden', '--no-require-git', '--no-messages'];
  const ignored = ['global', 'exclude', 'dot', 'parent'].map((name) => `--no-ignore-${name}`);
  const files = [...ignored, '--sort', 'path'];
  const bounds = [
    ['--max-columns', `${lineCharsMax}`],
    ['--max-count', `${matchesPerFileMax + 1}`],
    // It holds all matches of a line, as JSON: some 100 bytes of memory for each byte of a long one.
    ['--max-filesize', `${engineLimits.readFileBytesMax}`],
  ].flat();
  const left = ['.git', '.env*', ...hidden.map((path) => `/${path}`)];
  const globs = left.flatMap((path) => ['--iglob', `!${path}`]);
  const letters = ignoreCase ? ['--ignore-case'] : ['--case-sensitive'];
  return [...fixed, ...files, ...bounds, ...globs, ...letters, '-e', pattern, '--', './'];
}

/** Imported when it is needed: the import fails where the platform's package is not installed. */
async function findRipgrep(): Promise<string> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch {
    throw new WorkspaceRefused(
      'This worker has no ripgrep for its platform. Try: list_files and read_file instead; the operator can install @vscode/ripgrep.',
    );
  }
}

/** Reads the lines of a stream. @returns null for one that is too long to be kept. */
async function* readRecords(stream: AsyncIterable<Buffer>): AsyncGenerator<string | null> {
  const decoder = new StringDecoder('utf8');
  let record = '';
  let isLong = false;
  for await (const chunk of stream) {
    const [first = '', ...others] = decoder.write(chunk).split('\n');
    record += first;
    for (const next of others) {
      yield isLong ? null : record;
      record = next;
      isLong = false;
    }
    isLong ||= record.length > recordCharsMax;
    if (isLong) record = '';
  }
}

/** Reads one message of `--json`. @returns null for all but matches in files with readable names. */
async function readMatch(
  line: string,
  { pathOf, redact }: RipgrepPlace,
): Promise<SearchMatch | null> {
  const message: unknown = JSON.parse(line);
  if (!isRecord(message) || message['type'] !== 'match' || !isRecord(message['data'])) return null;
  const { path, lines, line_number } = message['data'];
  const inside = textOf(path);
  const shown = inside === null ? null : await pathOf(inside.replace(/^\.\//u, ''));
  if (shown === null || typeof line_number !== 'number') return null;
  const text = textOf(lines)?.replace(/\r?\n$/u, '') ?? '[no UTF-8]';
  // Half a secret is not known for one.
  const [redacted = ''] = redact([text.slice(0, lineCharsMax + redactedAroundChars)]);
  return { path: shown, line: line_number, text: cutText(redacted, lineCharsMax) };
}

/** @returns null for bytes that are no UTF-8, which ripgrep gives in Base64. */
function textOf(value: unknown): string | null {
  return isRecord(value) && typeof value['text'] === 'string' ? value['text'] : null;
}
