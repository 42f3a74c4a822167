import { z } from 'zod';
import { AgentDefinition } from '../../contracts/agent-definition.ts';
import { AgentOutput } from '../../contracts/agent-output.ts';
import type { WrittenFile } from '../../contracts/effect.ts';
import type { Ref } from '../../contracts/ref.ts';
import { NamedTeam } from '../../contracts/team.ts';
import { StoredPlan, type WavePlan } from '../../contracts/wave-plan.ts';
import { isRecord } from '../../core/json.ts';
import { shareBytes } from '../../core/text/cut-text.ts';
import { PinnedTool } from '../ports/mcp-servers.ts';
import { ArtifactCorrupt, type ArtifactStore } from '../ports/artifact-store.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine } from '../text/blocks.ts';
import { countBytes } from '../text/bytes.ts';
import { createStoreCaches } from './lru-cache.ts';

/** The agents and teams of a run, as they were when it began. */
const RegistrySnapshot = z.strictObject({
  /** Sorted by agent_id. */
  agents: z.array(AgentDefinition),
  /** Agents of the design group, which get no delegation. */
  designers: z.array(AgentDefinition),
  /** Teams with a name, each checked. */
  teams: z.array(NamedTeam),
  /** Tools of MCP servers that its agents are granted. Absent when there are none. */
  mcp_tools: z.array(PinnedTool).optional(),
  /** Model that the run gives all agents. Absent: each has that of its file. */
  agents_model: z.string().optional(),
});
export type RegistrySnapshot = z.infer<typeof RegistrySnapshot>;

/** @throws ArtifactCorrupt when the artifact is missing, damaged or no JSON. */
export async function readJson(store: ArtifactStore, ref: Ref): Promise<unknown> {
  const text = await store.getText(ref);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ArtifactCorrupt(`The artifact ${ref} is no JSON.`, { ref, path: ref, cause: error });
  }
}

/**
 * Reads an artifact in a shape that a schema describes.
 *
 * @param what names it in the error: "the wave plan".
 * @throws ArtifactCorrupt like `readJson`, and when it has another shape.
 */
export async function readShape<T>(
  store: ArtifactStore,
  ref: Ref,
  schema: z.ZodType<T>,
  what: string,
): Promise<T> {
  const parsed = schema.safeParse(await readJson(store, ref));
  if (parsed.success) return parsed.data;
  const message = `The artifact ${ref} is not ${what}: ${z.prettifyError(parsed.error)}`;
  throw new ArtifactCorrupt(message, { ref, path: ref });
}

/** @throws ArtifactCorrupt like `readShape`. */
export function readPlan(store: ArtifactStore, ref: Ref): Promise<WavePlan> {
  return readShape(store, ref, StoredPlan, 'a wave plan');
}

/** @throws ArtifactCorrupt like `readShape`. */
export function readOutput(store: ArtifactStore, ref: Ref): Promise<AgentOutput> {
  return readShape(store, ref, AgentOutput, "an agent's output");
}

/** Registries that were read. Runs with the same agents share one. */
const registriesOf = createStoreCaches<RegistrySnapshot>(8);

/**
 * Reads a registry, or returns the one that was read before: every model call needs it, and to parse and check all agents
 * takes a millisecond or two. Callers must not change it.
 *
 * @throws ArtifactCorrupt like `readShape`.
 */
export async function readRegistry(store: ArtifactStore, ref: Ref): Promise<RegistrySnapshot> {
  const known = registriesOf(store).get(ref);
  if (known !== undefined) return known;
  const registry = await readShape(store, ref, RegistrySnapshot, 'a registry snapshot');
  registriesOf(store).set(ref, registry);
  return registry;
}

/**
 * Reads the agents of a run as they were when it began.
 *
 * @throws ArtifactCorrupt like `readShape`.
 */
export async function readAgents(store: ArtifactStore, ref: Ref): Promise<AgentDefinition[]> {
  return (await readRegistry(store, ref)).agents;
}

/** @throws ArtifactCorrupt like `readShape`, and when the snapshot has no such agent. */
export async function readAgent(
  store: ArtifactStore,
  ref: Ref,
  agentId: string,
): Promise<AgentDefinition> {
  const registry = await readRegistry(store, ref);
  const agents = [...registry.agents, ...registry.designers];
  const agent = agents.find((one) => one.agent_id === agentId);
  if (agent !== undefined) return agent;
  const known = agents.map((one) => one.agent_id).join(', ');
  const message = `The registry snapshot has no agent "${agentId}". It has: ${known}.`;
  throw new ArtifactCorrupt(message, { ref, path: ref });
}

/**
 * Reads the whole result of a delegation: its detailed_md, and each file that it wrote, so that other agents can read
 * the contents.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function readWhole(
  store: ArtifactStore,
  { detailed_md }: Pick<AgentOutput, 'detailed_md'>,
  files: readonly WrittenFile[],
): Promise<string> {
  if (files.length === 0) return detailed_md;
  const texts = await Promise.all(files.map((file) => readContent(store, file)));
  const shares = shareBytes(texts.map(countBytes), blockBytesMax.written_files);
  const sections = files.map(({ path, sha256, bytes, tool }, at) =>
    [
      `# File ${path}`,
      `Written by ${tool}: ${bytes} bytes, SHA-256 ${sha256}.`,
      fence(cutAtLine(texts[at] ?? '', shares[at] ?? 0)),
    ].join('\n\n'),
  );
  return [detailed_md.trimEnd(), ...sections].join('\n\n');
}

/** Reads the text from the call's arguments; that of an edited file is an artifact of its own. */
async function readContent(
  store: ArtifactStore,
  { arguments_ref, content_ref }: WrittenFile,
): Promise<string> {
  if (content_ref !== undefined) return store.getText(content_ref);
  const given = await readJson(store, arguments_ref);
  const content = isRecord(given) ? given['content'] : undefined;
  return typeof content === 'string' ? content : '[The call did not give the text of the file.]';
}

/** Puts a text into a code block that nothing in it can close. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/gu)].map(([run]) => run.length));
  const mark = '`'.repeat(longest + 1);
  return `${mark}\n${text}\n${mark}`;
}

/** Returns null for an artifact that is missing, damaged or of another shape. */
export async function orNull<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ArtifactCorrupt) return null;
    throw error;
  }
}
