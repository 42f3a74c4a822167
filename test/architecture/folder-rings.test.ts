import { posix } from 'node:path';
import { matchAll, read, sourceFiles } from './repository.ts';

/** Every import of a file of ours, types included. */
const imports = /\bfrom '(\.{1,2}\/[^']+)'/g;

/** @returns each folder with the folders that its files import from. */
function readFolders(): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const path of sourceFiles) {
    const folder = posix.dirname(path);
    const imported = folders.get(folder) ?? new Set();
    folders.set(folder, imported);
    for (const target of matchAll(read(path), imports)) {
      const other = posix.dirname(posix.join(folder, target));
      if (other !== folder) imported.add(other);
    }
  }
  return folders;
}

const folders = readFolders();

const rings = [...folders].flatMap(([folder, imported]) =>
  [...imported]
    .filter((other) => folder < other && folders.get(other)?.has(folder) === true)
    .map((other) => `${folder} ⇄ ${other}`),
);

it('sees imports between folders', () => {
  expect(folders.get('workflows/delegation')).toContain('workflows/execution');
});

it('no folder imports from a folder that imports it', () => {
  const faults = rings.map(
    (ring) => `${ring}. Cure: move what both need into a folder that both import`,
  );
  expect(faults).toEqual([]);
});
