import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import { AgentFilesInvalid, type AgentFault, type AgentSource } from '../ports/agent-source.ts';
import { parseAgentFile, type ParseAgentOptions } from './agent-file/parse-agent-file.ts';
import { isAllowed } from './workspaces/open-folder.ts';
import { messageOf } from '../../core/text/message-of.ts';

export interface AgentFilesOptions extends Omit<ParseAgentOptions, 'goesWithout'> {
  /** Folder of the shipped agents. They go without a tool that this machine lacks; an agent of the user's is refused. */
  readonly shippedDir?: string;
  /** Folders from which agents may be read, with all below them. If undefined, any. */
  readonly roots?: readonly string[] | undefined;
  /** Called with the words of what an agent goes without. */
  readonly onLeftOut?: (words: string) => void;
}

/** Longest agent file, in bytes. */
const fileBytesMax = 1024 * 1024;

/** Agents from directories of Markdown files, read anew at every `load`. */
export function createAgentFiles(
  dirs: readonly string[],
  options: AgentFilesOptions = {},
): AgentSource {
  return { load: () => loadAgents(dirs, options) };
}

/**
 * The agents in the Markdown files (`*.md`, but not `README.md`) directly in `dirs`, sorted by agent_id. An agent of a
 * later directory replaces one of the same id of an earlier one: the user's own over the shipped.
 *
 * @throws {AgentFilesInvalid} with every fault of every file: a directory that is missing or listed twice, front matter
 * that is missing or no YAML, unknown keys and tools, two files of one directory with the same name, an empty prompt, a
 * directory without an agent, something that is no regular file or is longer than 1 MB.
 */
export async function loadAgents(
  dirs: readonly string[],
  options: AgentFilesOptions = {},
): Promise<AgentDefinition[]> {
  const faults: AgentFault[] = [];
  const agents = new Map<string, AgentDefinition>();
  const seen = new Map<string, string>();
  for (const dir of dirs) {
    const real = await realpath(dir).catch(() => null);
    const twin = real === null ? undefined : seen.get(real);
    if (options.roots !== undefined && !(await isAllowed(options.roots, dir))) {
      const reason = `this folder is in none of the worker's folders for agents (${options.roots.join(', ')}). Try: a folder there, or PLANWAVE_AGENTS on the worker`;
      faults.push({ file: dir, line: 1, reason });
    } else if (real === null) {
      faults.push({ file: dir, line: 1, reason: 'expected a directory with agent files' });
    } else if (twin !== undefined) {
      faults.push({
        file: dir,
        line: 1,
        reason: `this directory is listed twice: it is "${twin}"`,
      });
    } else {
      seen.set(real, dir);
      for (const [id, agent] of await loadDirectory(dir, options, faults)) agents.set(id, agent);
    }
  }
  if (faults.length > 0) throw new AgentFilesInvalid(faults);
  return [...agents.values()].toSorted((a, b) => (a.agent_id < b.agent_id ? -1 : 1));
}

async function loadDirectory(
  dir: string,
  options: AgentFilesOptions,
  faults: AgentFault[],
): Promise<Map<string, AgentDefinition>> {
  const agents = new Map<string, AgentDefinition>();
  const fileOf = new Map<string, string>();
  for (const name of await listAgentFiles(dir, faults)) {
    const file = join(dir, name);
    const text = await readText(file, faults);
    const goesWithout = dir === options.shippedDir;
    const parsed =
      text === null ? { faults: [] } : parseAgentFile(text, { ...options, goesWithout });
    if ('faults' in parsed) {
      faults.push(...parsed.faults.map((fault) => ({ file, ...fault })));
      continue;
    }
    const { definition, nameLine } = parsed;
    const twin = fileOf.get(definition.agent_id);
    if (twin !== undefined) {
      const reason = `the name "${definition.agent_id}" is taken by "${twin}": expected another name`;
      faults.push({ file, line: nameLine, reason });
      continue;
    }
    fileOf.set(definition.agent_id, file);
    if (parsed.leftOut.length > 0) {
      const names = parsed.leftOut.join(', ');
      options.onLeftOut?.(
        `${file}: the agent goes without ${names}, which this worker does not have.`,
      );
    }
    agents.set(definition.agent_id, definition);
  }
  return agents;
}

async function listAgentFiles(dir: string, faults: AgentFault[]): Promise<string[]> {
  try {
    const names = (await readdir(dir)).filter(
      (name) => /\.md$/i.test(name) && !/^readme\.md$/i.test(name),
    );
    if (names.length === 0) {
      faults.push({ file: dir, line: 1, reason: 'expected at least one agent file, name.md' });
    }
    return names.toSorted();
  } catch (error) {
    faults.push({ file: dir, line: 1, reason: `the directory can't be read: ${messageOf(error)}` });
    return [];
  }
}

async function readText(file: string, faults: AgentFault[]): Promise<string | null> {
  try {
    // Reading a pipe would never end, and keep one of the few threads that read files.
    const found = await stat(file);
    if (!found.isFile() || found.size > fileBytesMax) {
      faults.push({ file, line: 1, reason: 'expected a regular file of at most 1 MB' });
      return null;
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    faults.push({ file, line: 1, reason: `expected a text file in UTF-8: ${messageOf(error)}` });
    return null;
  }
}
