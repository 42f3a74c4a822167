import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CliDeps } from '../cli-deps.ts';
import { codeOf } from '../../client-error.ts';
import { badInput } from '../cli-error.ts';
import { readAll } from '../cli-io.ts';
import { messageOf } from '../../../core/text/message-of.ts';

/**
 * @param name of the file; `-` reads standard input.
 * @returns the value, and where it was read, for errors.
 * @throws CliError when it can't be read or is no JSON.
 */
export async function readJsonFile(
  { cwd, io }: Pick<CliDeps, 'cwd' | 'io'>,
  name: string,
): Promise<{ readonly value: unknown; readonly where: string }> {
  const where = name === '-' ? 'standard input' : resolve(cwd, name);
  return { value: parseJson(await readInputText({ cwd, io }, name), where), where };
}

/**
 * @param name of the file; `-` reads standard input.
 * @throws CliError when it can't be read.
 */
export function readInputText(
  { cwd, io }: Pick<CliDeps, 'cwd' | 'io'>,
  name: string,
): Promise<string> {
  return name === '-' ? readAll(io.stdin) : readTextFile(resolve(cwd, name));
}

async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw badInput(`${path} can't be read: ${describeReadError(error)}`);
  }
}

/** @throws CliError that names `what`, and ends with `cure`. */
export async function writeOut(
  path: string,
  content: string | Uint8Array,
  what: string,
  cure = '',
): Promise<void> {
  await writeFile(path, content).catch((error: unknown) => {
    throw badInput(`${what} can't be written: ${messageOf(error)}${cure}`);
  });
}

function describeReadError(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ENOENT') {
    return 'there is no such file or folder (ENOENT). Try: a path from the folder of this shell';
  }
  if (code === 'EISDIR') return 'it is a folder (EISDIR). Try: the path of a file in it';
  return messageOf(error);
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
  } catch (error) {
    const fault = findJsonFault(text.replace(/^\uFEFF/, ''));
    const place = fault === null ? '' : ` in line ${fault.line}, column ${fault.column}`;
    throw badInput(`${where} is not JSON${place}: ${messageOf(error).replaceAll(/\s+/g, ' ')}`);
  }
}

/** Place where a text stops being JSON. Lines and columns count from 1. */
interface JsonFault {
  readonly line: number;
  readonly column: number;
}

const jsonBlank = /[ \t\r\n]*/y;
// A backslash and a control character can't stand unescaped in a string.
const jsonText = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/uy;
const jsonPlain = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The first character that can't stand where it stands; null when the text is JSON. `JSON.parse` does not tell it. */
export function findJsonFault(json: string): JsonFault | null {
  let at = 0;
  const take = (token: RegExp): boolean => {
    token.lastIndex = at;
    const [found] = token.exec(json) ?? [];
    at += found?.length ?? 0;
    return found !== undefined;
  };
  const takeMark = (mark: string): boolean => {
    take(jsonBlank);
    if (json[at] !== mark) return false;
    at += 1;
    return true;
  };
  const takeValue = (): boolean => {
    if (takeMark('{')) return takeList('}', takeEntry);
    if (takeMark('[')) return takeList(']', takeValue);
    return take(jsonText) || take(jsonPlain);
  };
  const takeEntry = (): boolean => {
    take(jsonBlank);
    return take(jsonText) && takeMark(':') && takeValue();
  };
  const takeList = (end: string, takeItem: () => boolean): boolean => {
    if (takeMark(end)) return true;
    do {
      if (!takeItem()) return false;
    } while (takeMark(','));
    return takeMark(end);
  };
  const isValue = takeValue();
  take(jsonBlank);
  if (isValue && at === json.length) return null;
  const before = json.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
