import type { ArtifactStore } from '../../activities/ports/artifact-store.ts';
import { hashBytes } from '../../activities/text/bytes.ts';
import type { RunRecord } from '../../contracts/run-record.ts';

/** Design of a finished run: what must not depend on interruptions. */
export interface DesignFacts {
  readonly status: string;
  /** `<stage> <subject>: <hash>` for each result of a stage, sorted: some stages work at the same time. */
  readonly materials: readonly string[];
  /** Hash of each version of the plan. */
  readonly plans: readonly string[];
  readonly findings: number;
}

/** @returns null for a run without a design. */
export async function readDesignFacts(
  store: Pick<ArtifactStore, 'getText'>,
  { design }: Pick<RunRecord, 'design'>,
): Promise<DesignFacts | null> {
  if (!design) return null;
  const materials = await Promise.all(
    design.materials.map(
      async ({ stage, subject, ref }) =>
        `${stage} ${withoutTimes(subject ?? '')}: ${await hashWithoutTimes(store, ref)}`,
    ),
  );
  return {
    status: design.status,
    materials: materials.toSorted(),
    plans: await Promise.all(design.plan_refs.map((ref) => hashWithoutTimes(store, ref))),
    findings: design.findings.length,
  };
}

/** Hashes an artifact without the times in its task_ids, which no two runs have in common. */
export async function hashWithoutTimes(
  store: Pick<ArtifactStore, 'getText'>,
  ref: string,
): Promise<string> {
  return hashBytes(withoutTimes(await store.getText(ref)));
}

const taskTime = /(?<=[a-z0-9])_\d{10}(?!\d)/gu;

/** Removes the times from the task_ids of a text. */
export function withoutTimes(text: string): string {
  return text.replaceAll(taskTime, '');
}
