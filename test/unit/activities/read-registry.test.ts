import { readRegistry } from '../../../activities/artifacts/read-artifact.ts';
import type { ArtifactStore } from '../../../activities/ports/artifact-store.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { registryOf } from '../../support/registry-of.ts';

/** Creates a store that notes each artifact that is read. */
function createNotingStore(): { readonly store: ArtifactStore; readonly read: string[] } {
  const store = createMemoryStore();
  const read: string[] = [];
  const getText: ArtifactStore['getText'] = (ref) => {
    read.push(ref);
    return store.getText(ref);
  };
  return { store: { ...store, getText }, read };
}

it('reads and checks a registry once for all calls of its run', async () => {
  const { store, read } = createNotingStore();
  const ref = await store.put(registryOf([]));
  const first = await readRegistry(store, ref);
  expect(await readRegistry(store, ref)).toBe(first);
  expect(read).toEqual([ref]);
});

it('keeps the eight registries that were used last', async () => {
  const { store, read } = createNotingStore();
  const refs: string[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) {
    // oxlint-disable-next-line no-await-in-loop
    refs.push(
      await store.put(JSON.stringify({ ...JSON.parse(registryOf([])), agents_model: name })),
    );
  }
  const [used = '', dropped = '', ...others] = refs;
  for (const ref of [used, dropped, ...others.slice(0, -1), used, ...others.slice(-1)]) {
    // oxlint-disable-next-line no-await-in-loop
    await readRegistry(store, ref);
  }
  read.length = 0;
  await readRegistry(store, used);
  expect(read).toEqual([]);
  await readRegistry(store, dropped);
  expect(read).toEqual([dropped]);
});

it('keeps nothing of a registry that could not be read', async () => {
  const { store, read } = createNotingStore();
  const ref = await store.put('{"agents":1}');
  await expect(readRegistry(store, ref)).rejects.toThrow('is not a registry snapshot');
  await expect(readRegistry(store, ref)).rejects.toThrow('is not a registry snapshot');
  expect(read).toEqual([ref, ref]);
});
