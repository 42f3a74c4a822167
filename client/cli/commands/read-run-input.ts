import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PlannerRunInput } from '../../../contracts/planner-run.ts';
import { commandText } from '../../command-text.ts';
import type { CliDeps } from '../cli-deps.ts';
import { badInput } from '../cli-error.ts';
import { findJsonFault } from '../find-json-fault.ts';
import { readAll } from '../read-all.ts';

export interface StartOptions {
  readonly watch?: boolean;
  readonly id?: string;
  readonly constraint?: readonly string[];
  readonly criterion?: readonly string[];
  readonly agents?: string;
  readonly workspace?: string;
  readonly defaults?: boolean;
  readonly assume?: boolean;
  /** False with `--no-triads`. */
  readonly triads?: boolean;
  readonly deadline?: number;
  readonly remind?: number;
  readonly escalateTo?: string;
  readonly escalateAfter?: number;
  readonly maxWaves?: number;
  readonly maxParallel?: number;
  readonly maxDelegations?: number;
  readonly maxTurns?: number;
  readonly maxOutputTokens?: number;
  readonly budgetUsd?: number;
  readonly budgetTokens?: number;
  readonly budgetCalls?: number;
  readonly budgetMinutes?: number;
  readonly input?: string;
}

/**
 * The input of a run: the file's fields, and over them what was given on the command line.
 * @throws CliError with every fault at once
 */
export async function readRunInput(
  deps: Pick<CliDeps, 'cwd' | 'io'>,
  goal: string | undefined,
  options: StartOptions,
): Promise<PlannerRunInput> {
  const file = options.input === undefined ? {} : await readJsonObject(deps, options.input);
  const limits = definedOnly({
    max_waves: options.maxWaves,
    max_parallel: options.maxParallel,
    max_delegations: options.maxDelegations,
    max_turns: options.maxTurns,
    max_output_tokens: options.maxOutputTokens,
  });
  const budget = definedOnly({
    usd: options.budgetUsd,
    tokens: options.budgetTokens,
    calls: options.budgetCalls,
    minutes: options.budgetMinutes,
  });
  const handOver = definedOnly({
    person: options.escalateTo,
    after_seconds: options.escalateAfter,
  });
  const questions = definedOnly({
    deadline_seconds: options.deadline,
    remind_seconds: options.remind,
    escalate_to: Object.keys(handOver).length === 0 ? undefined : handOver,
  });
  const merged = {
    ...file,
    ...definedOnly({
      goal,
      constraints: options.constraint,
      criteria: options.criterion,
      use_defaults: options.defaults,
      autonomy: options.assume === true ? 'assume' : undefined,
      triads: options.triads === false ? false : undefined,
      agents_dir: options.agents === undefined ? undefined : resolve(deps.cwd, options.agents),
      workspace_dir:
        options.workspace === undefined ? undefined : resolve(deps.cwd, options.workspace),
      questions: mergeFields(file['questions'], questions),
      limits: mergeFields(file['limits'], limits),
      budget: mergeFields(file['budget'], budget),
    }),
  };
  if (!('goal' in merged)) {
    throw badInput(`A goal is missing. Try: ${commandText('start', 'Compare three ways to …')}`);
  }
  const parsed = PlannerRunInput.safeParse(merged);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => {
    return `${path.length === 0 ? 'the input' : path.join('.')}: ${message}`;
  });
  const where = options.input === undefined ? '' : ` (from ${options.input})`;
  throw badInput(`The input of the run${where} is not valid. ${faults.join('; ')}`);
}

function mergeFields(fromFile: unknown, given: Readonly<Record<string, unknown>>): unknown {
  if (Object.keys(given).length === 0) return fromFile;
  return isRecord(fromFile) ? { ...fromFile, ...given } : given;
}

async function readJsonObject(
  { cwd, io }: Pick<CliDeps, 'cwd' | 'io'>,
  name: string,
): Promise<Readonly<Record<string, unknown>>> {
  const where = name === '-' ? 'standard input' : resolve(cwd, name);
  const text = name === '-' ? await readAll(io.stdin) : await readTextFile(where);
  const value = parseJson(text, where);
  if (isRecord(value)) return value;
  throw badInput(`${where}: expected one JSON object. Try: {"goal":"Compare three ways to …"}`);
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

function definedOnly(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
