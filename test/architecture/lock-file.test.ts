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
