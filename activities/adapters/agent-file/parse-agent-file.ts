import { closest as closestOf, distance } from 'fastest-levenshtein';
import { AgentDefinition, RiskLevel } from '../../../contracts/agent-definition.ts';
import { isMcpGrant, serverOfGrant } from '../../tools/mcp/expand-grants.ts';
import { type FrontMatter, type LineFault, parseFrontMatter } from './front-matter.ts';

const keys = ['name', 'description', 'tools', 'model', 'capabilities', 'risk_level'];

/**
 * Keys of Claude Code that have no effect here. Keys that restrict an agent there are not among them: they are refused.
 */
const ignoredKeys = new Set([
  'background',
  'color',
  'effort',
  'hooks',
  'initialPrompt',
  'isolation',
  'maxTurns',
  'mcpServers',
  'memory',
  'permissionMode',
  'skills',
]);

export interface ParseAgentOptions {
  /** Names of the tools that exist. If undefined, any tool is accepted. */
  readonly knownTools?: readonly string[] | undefined;
  /** Tools that this machine lacks, each with the cause and the cure. */
  readonly missingTools?: Readonly<Record<string, string>> | undefined;
  /** True for an agent that goes without a missing tool, and says so. If undefined, it is refused. */
  readonly goesWithout?: boolean | undefined;
}

export interface ParsedAgent {
  readonly definition: AgentDefinition;
  readonly nameLine: number;
  /** Tools of Claude Code that it goes without, because nothing here does the same. */
  readonly leftOut: readonly string[];
}

/** Parses the agent in a Markdown file with front matter, or returns all faults by line. */
export function parseAgentFile(
  text: string,
  options: ParseAgentOptions,
): ParsedAgent | { readonly faults: readonly LineFault[] } {
  const matter = parseFrontMatter(text);
  if ('faults' in matter) return matter;
  const faults: LineFault[] = findUnknownKeys(matter);
  const reader = createReader(matter, faults);
  const name = reader.text('name');
  const { tools, leftOut } = translateTools(reader.list('tools'), options.knownTools);
  const lacked = options.goesWithout === true ? tools.filter((one) => isMissing(one, options)) : [];
  const granted = tools.filter((one) => !lacked.includes(one));
  checkTools(granted, reader.line('tools'), options, faults);
  if (matter.body === '') {
    faults.push({
      line: matter.endLine,
      reason: 'the prompt is empty: expected text below the front matter',
    });
  }
  const definition = AgentDefinition.safeParse({
    agent_id: toSlug(name ?? ''),
    description: [
      reader.text('description') ?? '',
      ...lacked.map((tool) => `On this machine it has no ${tool}.`),
    ]
      .join(' ')
      .trim(),
    capabilities: reader.list('capabilities'),
    allowed_tools: granted,
    risk_level: readRiskLevel(reader, faults),
    model: readModel(reader),
    prompt: matter.body,
  });
  if (faults.length === 0 && definition.success) {
    return { definition: definition.data, nameLine: reader.line('name'), leftOut };
  }
  if (faults.length > 0) return { faults: faults.toSorted((a, b) => a.line - b.line) };
  return {
    faults: (definition.error?.issues ?? []).map((issue) => ({
      line: reader.line(toKey(issue.path[0])),
      reason: `"${toKey(issue.path[0])}": ${issue.message}`,
    })),
  };
}

function isMissing(tool: string, { knownTools, missingTools }: ParseAgentOptions): boolean {
  return (
    knownTools?.includes(tool) === false &&
    missingTools !== undefined &&
    Object.hasOwn(missingTools, tool)
  );
}

interface Reader {
  /** Returns the text of a required key, or null after a fault. */
  text(key: string): string | null;
  /** Returns the words of an optional key: a YAML list, or one text with commas. */
  list(key: string): string[];
  optionalText(key: string): string | null;
  /** Returns the line of a key, or the end of the front matter when it is missing. */
  line(key: string): number;
}

function createReader(matter: FrontMatter, faults: LineFault[]): Reader {
  const line = (key: string): number => matter.entries.get(key)?.line ?? matter.endLine;
  const valueOf = (key: string): unknown => matter.entries.get(key)?.value ?? null;
  const optionalText = (key: string): string | null => {
    const value = valueOf(key);
    if (value === null || typeof value === 'string') return value?.trim() ?? null;
    faults.push({ line: line(key), reason: `"${key}" must be text. Try: put it in double quotes` });
    return null;
  };
  return {
    line,
    optionalText,
    text: (key) => {
      const before = faults.length;
      const text = optionalText(key);
      if (faults.length === before && (text === null || text === '')) {
        const where = matter.entries.has(key) ? 'is empty' : 'is missing';
        faults.push({ line: line(key), reason: `"${key}" ${where}: expected a line "${key}: …"` });
      }
      return text;
    },
    list: (key) => {
      const value = valueOf(key);
      const items = typeof value === 'string' ? value.split(',') : (value ?? []);
      if (Array.isArray(items) && items.every((item) => typeof item === 'string')) {
        return [...new Set(items.map((item) => item.trim()).filter((item) => item !== ''))];
      }
      faults.push({
        line: line(key),
        reason: `"${key}" must be a list of words. Try: "${key}: one, two"`,
      });
      return [];
    },
  };
}

function findUnknownKeys(matter: FrontMatter): LineFault[] {
  return [...matter.entries]
    .filter(([key]) => !keys.includes(key) && !ignoredKeys.has(key))
    .map(([key, { line }]) => {
      const closest = findClosestWord(key, keys);
      const hint =
        closest === null ? `expected one of ${keys.join(', ')}` : `did you mean "${closest}"?`;
      return { line, reason: `unknown key "${key}": ${hint}` };
    });
}

function checkTools(
  tools: readonly string[],
  line: number,
  { knownTools, missingTools = {} }: ParseAgentOptions,
  faults: LineFault[],
): void {
  if (knownTools === undefined) return;
  // Which of them exist is known only where their servers are.
  const others = tools.filter((name) => !isMcpGrant(name));
  const badGrants = tools.filter((name) => isMcpGrant(name) && serverOfGrant(name) === null);
  for (const tool of badGrants) {
    faults.push({
      line,
      reason: `"${tool}" names no tool. Try: mcp__<server>__<tool>, or mcp__<server>__*`,
    });
  }
  for (const tool of others.filter((name) => !knownTools.includes(name))) {
    const missing = Object.hasOwn(missingTools, tool) ? missingTools[tool] : undefined;
    if (missing !== undefined) {
      faults.push({ line, reason: `the tool "${tool}" can't be used here: ${missing}` });
      continue;
    }
    const closest = findClosestWord(tool, knownTools);
    const known =
      knownTools.length === 0 ? 'there are none.' : `expected one of ${knownTools.join(', ')}.`;
    const hint = closest === null ? known : `did you mean "${closest}"?`;
    const own =
      'For a tool of yours, name its module in PLANWAVE_TOOLS, for the worker and in the shell that checks';
    faults.push({ line, reason: `unknown tool "${tool}": ${hint} ${own}` });
  }
}

/** Finds the word that takes the fewest changed letters; null when more than half of them changed: that is no typing error. */
function findClosestWord(word: string, words: readonly string[]): string | null {
  const near = closestOf(
    word.toLowerCase(),
    words.map((known) => known.toLowerCase()),
  );
  const known = words.find((one) => one.toLowerCase() === near);
  if (known === undefined) return null;
  return distance(word.toLowerCase(), near) <= Math.ceil(known.length / 2) ? known : null;
}

function readRiskLevel(reader: Reader, faults: LineFault[]): RiskLevel {
  const text = reader.optionalText('risk_level');
  const parsed = RiskLevel.safeParse(text ?? 'low');
  if (parsed.success) return parsed.data;
  faults.push({
    line: reader.line('risk_level'),
    reason: `unknown risk_level "${text}": expected low, medium or high`,
  });
  return 'low';
}

function readModel(reader: Reader): string | null {
  const text = reader.optionalText('model');
  if (text === null || text === '') return null;
  return resolveModelName(text);
}

/**
 * Converts "Étude de Marché" to "etude-de-marche"; a name without letters and digits becomes empty, which is a fault.
 */
function toSlug(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^[-_]+|(?<!-)-+$/g, '');
}

/** Returns the key of the front matter for a field of the definition. */
function toKey(field: unknown): string {
  if (field === 'agent_id') return 'name';
  return field === 'allowed_tools' ? 'tools' : String(field);
}

/**
 * Tools of Claude Code by name, each with the tools that do the same here. An empty list: there is none, and the agent
 * goes without it.
 */
const claudeTools: ReadonlyMap<string, readonly string[]> = new Map([
  ['Read', ['read_file', 'list_files']],
  ['Grep', ['search_files']],
  ['Glob', ['list_files']],
  ['LS', ['list_files']],
  ['Edit', ['edit_file']],
  ['MultiEdit', ['edit_file']],
  ['Write', ['write_file']],
  ['Bash', ['run_command']],
  ['Agent', []],
  ['AskUserQuestion', []],
  ['NotebookEdit', []],
  ['Skill', []],
  ['Task', []],
  ['TodoWrite', []],
  ['WebFetch', []],
  ['WebSearch', []],
]);

interface TranslatedTools {
  readonly tools: readonly string[];
  /** Tools of Claude Code that have no counterpart on this worker. */
  readonly leftOut: readonly string[];
}

/** @param known Names of the tools that exist. If undefined, all of planwave's. */
function translateTools(
  names: readonly string[],
  known: readonly string[] | undefined,
): TranslatedTools {
  const leftOut: string[] = [];
  const tools = names.flatMap((name) => {
    const counterparts = claudeTools.get(name);
    if (counterparts === undefined) return [name];
    const found = counterparts.filter((one) => known === undefined || known.includes(one));
    if (found.length === 0) leftOut.push(name);
    return found;
  });
  return { tools: [...new Set(tools)], leftOut };
}

/** The short model names of Claude Code. */
const modelAliases = new Map<string, string | null>([
  ['inherit', null],
  ['fable', 'claude-fable-5-1'],
  ['opus', 'claude-opus-5-5'],
  ['sonnet', 'claude-sonnet-5-5'],
  ['haiku', 'claude-haiku-5-5'],
]);

/** @returns the model that a name stands for, the name itself when it is no short one; null: the default of the run. */
export function resolveModelName(name: string): string | null {
  return modelAliases.has(name) ? (modelAliases.get(name) ?? null) : name;
}
