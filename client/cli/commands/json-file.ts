import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { expandIssue } from '../../../contracts/expand-issue.ts';
import type { CliDeps } from '../cli-deps.ts';
import { badInput } from '../cli-error.ts';
import { findJsonFault } from '../find-json-fault.ts';
import { readAll } from '../read-all.ts';

/** Fields of a JSON file, and over them what was given on the command line. */
export function mergeFields(fromFile: unknown, given: Readonly<Record<string, unknown>>): unknown {
  if (Object.keys(given).length === 0) return fromFile;
  return isRecord(fromFile) ? { ...fromFile, ...given } : given;
}

export function definedOnly(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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
  const text = name === '-' ? await readAll(io.stdin) : await readTextFile(where);
  return { value: parseJson(text, where), where };
}

/** @throws CliError with every fault at once */
export function checkInput<T>(
  schema: z.ZodType<T>,
  input: unknown,
  { of, file }: { readonly of: string; readonly file: string | undefined },
): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.flatMap(expandIssue).map(({ path, message }) => {
    return `${path.length === 0 ? 'the input' : path.join('.')}: ${message}`;
  });
  const where = file === undefined ? '' : ` (from ${file})`;
  throw badInput(`The input of the ${of}${where} is not valid. ${faults.join('; ')}`);
}

async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw badInput(`The input file can't be read: ${messageOf(error)}`);
  }
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
