import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import {
  isIgnored,
  listPatternsBelow,
  matchPattern,
  parseIgnoreFile,
} from '../../../core/effects/ignored-paths.ts';
import { property } from './builders.ts';
import { processorMs } from '../../support/processor-time.ts';

const ignores = (path: string, text: string, inner?: readonly [folder: string, text: string]) => {
  const files = [parseIgnoreFile([], text)];
  if (inner !== undefined) files.push(parseIgnoreFile(inner[0].split('/'), inner[1]));
  return isIgnored(files, path.split('/'), false);
};

it('IG1: the last pattern decides, and the nearer file', () => {
  expect(ignores('a.log', '*.log')).toBe(true);
  expect(ignores('keep.log', '*.log\n!keep.log')).toBe(false);
  expect(ignores('src/a.log', '*.log', ['src', '!a.log'])).toBe(false);
  expect(ignores('other/a.log', '*.log', ['src', '!a.log'])).toBe(true);
});

it('IG2: nothing below an ignored folder is taken back', () => {
  expect(ignores('dist/keep.js', 'dist/\n!dist/keep.js')).toBe(true);
  expect(ignores('dist', 'dist/')).toBe(false);
});

it('IG3: a hostile pattern takes no time', () => {
  const pattern = `${'*a'.repeat(2_000)}b`;
  const matchMs = processorMs(() => {
    expect(matchPattern(pattern)(['a'.repeat(4_000)])).toBe(false);
  });
  expect(matchMs).toBeLessThan(2_000);
});

it('one pattern chooses files by name or by path', () => {
  expect(matchPattern('*.ts')(['src', 'deep', 'a.ts'])).toBe(true);
  expect(matchPattern('src/**')(['src', 'deep', 'a.ts'])).toBe(true);
  expect(matchPattern('src/*.ts')(['src', 'deep', 'a.ts'])).toBe(false);
  expect(matchPattern('****/a')(['a'])).toBe(true);
});

it('patterns for a folder mean there what those above it mean, whatever they are', () => {
  const name = fc.stringMatching(/^[ab]{1,2}$/);
  const piece = fc.constantFrom('a', 'b', 'ab', '*', '?', '[ab]', '**', '**/', '/', 'a*');
  const line = fc
    .tuple(fc.constantFrom('', '!', '/'), fc.array(piece, { minLength: 1, maxLength: 5 }))
    .map(([sign, pieces]) => `${sign}${pieces.join('')}`);
  const names = fc.array(name, { minLength: 1, maxLength: 3 });
  const texts = fc.array(fc.array(line, { maxLength: 4 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(names, names, texts, (folder, inside, lines) => {
      const files = lines
        .slice(0, folder.length)
        .map((text, at) => parseIgnoreFile(folder.slice(0, at), text.join('\n')));
      fc.pre(!isIgnored(files, folder, true));
      const below = parseIgnoreFile([], listPatternsBelow(files, folder).join('\n'));
      expect(isIgnored([below], inside, false)).toBe(
        isIgnored(files, [...folder, ...inside], false),
      );
    }),
    { ...property, numRuns: 500 },
  );
});

it('IG3: nor does a hostile pattern in a subfolder', () => {
  const files = [parseIgnoreFile([], `${'**/'.repeat(10_000)}a\n${'**/a/'.repeat(1_000)}b`)];
  const folder = Array.from({ length: 60 }, () => 'a');
  const listMs = processorMs(() => {
    expect(listPatternsBelow(files, folder).length).toBeLessThan(200);
  });
  expect(listMs).toBeLessThan(2_000);
});

it('agrees with git about generated patterns and paths', () => {
  const dir = mkdtempSync(join(tmpdir(), 'ignored-'));
  const git = (args: readonly string[], input?: string) =>
    spawnSync('git', args, { cwd: dir, input, encoding: 'utf8' });
  git(['init', '-q']);
  const name = fc.stringMatching(/^[ab][abc.]{0,2}$/);
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  const piece = fc.constantFrom(
    'a',
    'b',
    'ab',
    '*',
    '?',
    '[ab]',
    '[!a]',
    '**',
    '.',
    '/',
    '\\a',
    'a*',
    ' ',
  );
  const line = fc
    .tuple(fc.constantFrom('', '!', '/'), fc.array(piece, { minLength: 1, maxLength: 4 }))
    .map(([sign, pieces]) => `${sign}${pieces.join('')}`)
    // What `a**` means depends on the version: up to 2.39 git compares pointers into two different texts there.
    .filter((text) =>
      text.split(/[!/]/).every((part) => !part.includes('**') || part.replaceAll('*', '') === ''),
    );
  try {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 4 }),
        fc.array(path, { minLength: 1, maxLength: 20 }),
        (lines, paths) => {
          writeFileSync(join(dir, '.gitignore'), lines.join('\n'));
          const asked = paths.map((one) => `${one}\n`).join('');
          // It fails when none of them is ignored.
          const { stdout: said } = git(['check-ignore', '--no-index', '--stdin'], asked);
          const theirs = new Set(said.split('\n'));
          const ours = paths.filter((one) => ignores(one, lines.join('\n')));
          expect(new Set(ours)).toEqual(new Set(paths.filter((one) => theirs.has(one))));
        },
      ),
      { ...property, numRuns: 150 },
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
