import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../../scripts/bootstrap/hand-over.mjs';

const hook = `
import { writeSync } from 'node:fs';
export function load(url, context, next) {
  writeSync(2, 'loaded ' + url + '\\n');
  return next(url, context);
}`;
const asUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
const tellModules = asUrl(
  `import { register } from 'node:module'; register(${JSON.stringify(asUrl(hook))});`,
);

/** Runs the client as a user does. @returns its output, and the packages and files that it loaded. */
async function runPlanwave(...args: readonly string[]) {
  const script = join(root, 'scripts', 'planwave.mjs');
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', tellModules, script, ...args],
    { cwd: root },
  );
  const urls = [...stderr.matchAll(/^loaded file:\S*$/gm)].map(([line]) => line);
  const packages = urls.map((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]);
  return {
    stdout,
    packages: new Set(packages.filter((name) => name !== undefined)),
    files: new Set(urls.filter((_, at) => packages[at] === undefined)),
  };
}

/** Packages that read TypeScript, and the parser of the command line. */
const packagesOfHelp = ['commander', 'esbuild', 'tsx'];

it.each([['--help'], ['help']])(
  '%s loads the parser of the command line, and no command',
  async (word) => {
    const { stdout, packages, files } = await runPlanwave(word);
    expect(stdout).toContain('\n  answer ');
    expect([...packages].toSorted()).toEqual(packagesOfHelp);
    expect(files.size).toBeLessThanOrEqual(25);
  },
);

it('--version needs no package, alone and beside other options the same', async () => {
  const { stdout, packages } = await runPlanwave('--version');
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect([...packages]).toEqual([]);
  expect((await runPlanwave('--json', '--version')).stdout).toBe(stdout);
});

it('the help of a command loads this command only', async () => {
  const { stdout, files } = await runPlanwave('--address', 'localhost:7233', 'prune', '--help');
  expect(stdout).toContain('--older-than <days>');
  const commands = [...files].filter((url) =>
    /\/commands\/(?!command-list|program|run-cli|show-error)/.test(url),
  );
  expect(commands).toEqual([expect.stringMatching(/\/store\.ts/)]);
});
