import { z } from 'zod';
import { read } from './repository.ts';

const LockFile = z.object({
  packages: z.record(z.string(), z.object({ integrity: z.string().optional() })),
});

it('finding T10: the lock file has a hash for every package', () => {
  const { packages } = LockFile.parse(JSON.parse(read('package-lock.json')));
  const names = Object.keys(packages).filter((name) => name !== '');
  expect(names.length).toBeGreaterThan(500);
  const faults = names
    .filter((name) => packages[name]?.integrity?.startsWith('sha512-') !== true)
    .map((name) => `${name}. Cure: choose a version that exists for every platform`);
  expect(faults).toEqual([]);
});

it('each dependency has its line in decision 9, with what it replaces', () => {
  const { dependencies } = z
    .object({ dependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(read('package.json')));
  const rows = read('docs/decisions/0009-libraries.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | '));
  expect(rows.filter((cells) => cells.length !== 3).map(([library]) => library)).toEqual([]);
  const named = rows.flatMap(([library = '']) =>
    [...library.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
  const missing = Object.keys(dependencies).filter(
    (dependency) => !named.some((name) => covers(name, dependency)),
  );
  expect(missing).toEqual([]);
});

/** @param name As in decision 9, where `@temporalio/…` stands for all packages of that scope. */
function covers(name: string, dependency: string): boolean {
  return name.endsWith('…') ? dependency.startsWith(name.slice(0, -1)) : name === dependency;
}
