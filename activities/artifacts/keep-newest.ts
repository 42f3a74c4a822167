import type { ArtifactStore, RunIndex } from '../ports/artifact-store.ts';

/** Stores a value under a name. The newest replaces any earlier one. */
export async function keepNewest(
  store: ArtifactStore,
  index: Pick<RunIndex, 'read' | 'write'>,
  name: string,
  value: object,
): Promise<void> {
  const ref = await store.put(JSON.stringify(value));
  for (;;) {
    // Another run may keep its own at the same time; then this one comes after it.
    // oxlint-disable-next-line no-await-in-loop
    const { version } = await index.read(name);
    // oxlint-disable-next-line no-await-in-loop
    if (await index.write(name, ref, version)) return;
  }
}
