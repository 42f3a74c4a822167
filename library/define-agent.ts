import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { RiskLevel } from '../contracts/agent-definition.ts';
import { definedAgentsFolder } from '../contracts/names.ts';
import { findUnknownKey } from '../core/text/list-names.ts';

const AgentOptions = z.strictObject({
  name: z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9-]{0,39}$/,
      'expected lower-case letters, digits and "-". Try: tax-expert',
    ),
  description: z.string().trim().min(1).max(4_000),
  prompt: z.string().trim().min(1).max(50_000),
  tools: z.array(z.string().min(1).max(64)).max(50).optional(),
  capabilities: z.array(z.string().min(1).max(120)).max(20).optional(),
  risk_level: RiskLevel.optional(),
  model: z.string().min(1).max(120).optional(),
});

/** An agent in code. Fields, units and defaults are those of an agent's file (docs/agents.md). */
export type AgentOptions = z.infer<typeof AgentOptions>;

/** An agent as its file. */
export interface Agent {
  readonly name: string;
  /** Markdown with front matter. */
  readonly text: string;
}

/**
 * Defines an agent that runs may use.
 *
 * @throws {TypeError} that names each wrong field
 */
export function defineAgent(options: AgentOptions): Agent {
  const read = AgentOptions.safeParse(options);
  if (!read.success) {
    const unknown = findUnknownKey({ ...options }, Object.keys(AgentOptions.shape));
    const hint = unknown === null ? '' : `\n${unknown}`;
    throw new TypeError(`defineAgent: ${z.prettifyError(read.error)}${hint}`);
  }
  const { prompt, ...front } = read.data;
  return { name: front.name, text: `---\n${stringify(front)}---\n\n${prompt}\n` };
}

/** @throws {TypeError} that names the option that is not known, and the one that is meant */
export function checkOptions(of: string, options: object, known: readonly string[]): void {
  const unknown = findUnknownKey({ ...options }, known);
  if (unknown !== null) throw new TypeError(`${of}: ${unknown}`);
}

/**
 * Writes agents into a folder below the home, which every worker of this home may read. Equal agents share a folder.
 *
 * @param agents each with a name of its own
 * @returns the folder, absolute if `home` is
 */
export async function writeAgents(home: string, agents: readonly Agent[]): Promise<string> {
  const texts = agents.map(({ text }) => text).toSorted();
  const hash = createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16);
  const folder = join(home, definedAgentsFolder, hash);
  await mkdir(folder, { recursive: true });
  await Promise.all(agents.map(({ name, text }) => writeWhole(join(folder, `${name}.md`), text)));
  return folder;
}

/** Writes a file that a worker may be reading for an earlier run: it finds the whole text at any time. */
async function writeWhole(path: string, text: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => null)) === text) return;
  // Agents are in files that end in .md.
  const aside = `${path}.${randomUUID()}.tmp`;
  await writeFile(aside, text);
  await rename(aside, path);
}
