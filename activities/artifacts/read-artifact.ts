import { z } from 'zod';
import { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { Ref } from '../../contracts/ref.ts';
import { NamedTeam } from '../../contracts/team.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';

/** The agents and teams of a run, as they were when it began. */
const RegistrySnapshot = z.strictObject({
  /** Sorted by agent_id. */
  agents: z.array(AgentDefinition),
  /** Agents of the design group, which get no delegation. */
  designers: z.array(AgentDefinition),
  /** Teams with a name, each checked. */
  teams: z.array(NamedTeam),
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
export function readRegistry(store: ArtifactStore, ref: Ref): Promise<RegistrySnapshot> {
  return readShape(store, ref, RegistrySnapshot, 'a registry snapshot');
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
