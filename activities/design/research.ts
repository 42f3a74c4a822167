import { z } from 'zod';
import { TechnologyResearch, type DesignMaterial } from '../../contracts/design.ts';
import type { FindResearchInput, KeepResearchInput } from '../../contracts/design-activities.ts';
import { designAgentIds } from '../../contracts/names.ts';
import { Ref } from '../../contracts/ref.ts';
import { normaliseText } from '../../core/text/cut-text.ts';
import { keepNewest } from '../artifacts/keep-newest.ts';
import { readAgent, readShape } from '../artifacts/read-artifact.ts';
import { webResearchName } from '../tools/registry/web-tools.ts';
import { ArtifactCorrupt, type ArtifactStore, type RunIndex } from '../ports/artifact-store.ts';

export interface ResearchDeps {
  readonly store: ArtifactStore;
  /** Maps each technology to the newest research on it. */
  readonly research: Pick<RunIndex, 'read' | 'write'>;
}

const KeptResearch = z.strictObject({
  technology: z.string(),
  /** Unix epoch seconds. */
  researched_at: z.number(),
  ref: Ref,
});
type KeptResearch = z.infer<typeof KeptResearch>;

const secondsPerDay = 86_400;

/**
 * Returns the research that is still fresh, in the order of the technologies. One that was removed from the store is none,
 * nor is background knowledge where this run may ask the web.
 */
export async function findResearch(
  { store, research }: ResearchDeps,
  { technologies, now, max_age_days, registry_ref }: FindResearchInput,
): Promise<{ readonly found: readonly DesignMaterial[] }> {
  const asksWeb = registry_ref !== undefined && (await mayAskWeb(store, registry_ref));
  const found = await Promise.all(
    technologies.map(async (technology): Promise<DesignMaterial[]> => {
      const { ref } = await research.read(nameOf(technology));
      const kept = ref === null ? null : await readKept(store, ref);
      if (kept === null || now - kept.researched_at > max_age_days * secondsPerDay) return [];
      if (asksWeb && !kept.isLookedUp) return [];
      return max_age_days === 0 ? [] : [{ stage: 'research', subject: technology, ref: kept.ref }];
    }),
  );
  return { found: found.flat() };
}

async function mayAskWeb(store: ArtifactStore, registryRef: Ref): Promise<boolean> {
  const { allowed_tools } = await readAgent(store, registryRef, designAgentIds.research);
  return allowed_tools.includes(webResearchName);
}

async function readKept(
  store: ArtifactStore,
  ref: Ref,
): Promise<(KeptResearch & { readonly isLookedUp: boolean }) | null> {
  try {
    const kept = await readShape(store, ref, KeptResearch, 'research with its date');
    const { sources } = await readShape(
      store,
      kept.ref,
      TechnologyResearch,
      'research on a technology',
    );
    return { ...kept, isLookedUp: sources.some(({ url }) => url !== null) };
  } catch (error) {
    if (error instanceof ArtifactCorrupt) return null;
    throw error;
  }
}

/** Keeps research for later runs. The newest replaces any earlier one. */
export async function keepResearch(
  { store, research }: ResearchDeps,
  { technology, ref, now }: KeepResearchInput,
): Promise<void> {
  const kept: KeptResearch = { technology, researched_at: now, ref };
  await keepNewest(store, research, nameOf(technology), kept);
}

function nameOf(technology: string): string {
  return normaliseText(technology);
}
