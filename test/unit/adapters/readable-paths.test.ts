import fs, { mkdirSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { readSearchRules } from '../../../activities/adapters/workspaces/readable-paths.ts';
import { createTemporaryHome } from './temporary-home.ts';
import type { TemporaryHome } from './temporary-home.ts';

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await at.remove();
});

it('a search with braces reads each ignore file once, before it and on its matches', async () => {
  const path = join(at.outside, 'project');
  mkdirSync(join(path, 'src'), { recursive: true });
  writeFileSync(join(path, '.gitignore'), '*.{ts,js}\n*.log\n');
  writeFileSync(join(path, 'src/.gitignore'), '!kept.log\n');
  const read = vi.spyOn(fs, 'readFileSync');
  syncBuiltinESMExports();
  const { isLeft, isSparedOnly } = await readSearchRules({ path }, [], [], async () => []);
  expect(isSparedOnly).toBe(true);
  const names = ['a.log', 'kept.log', 'a.ts'].map((name) => ['src', name]);
  expect(names.map(isLeft)).toEqual([true, false, false]);
  expect(read.mock.calls.map(([file]) => file)).toEqual([
    join(path, '.gitignore'),
    join(path, 'src/.gitignore'),
  ]);
});
