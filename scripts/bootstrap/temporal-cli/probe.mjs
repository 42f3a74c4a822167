import { compareVersions } from '../check-node.mjs';
import { lastLines, runCommand } from '../run-command.mjs';

/** The version planwave is measured with. An older one is slower to start and needs one more server setting. */
export const cliVersionPreferred = '1.9.1';
/** The oldest version that works. */
export const cliVersionMin = '1.5.1';

/**
 * Runs `<path> --version`.
 *
 * @param {string} path the executable; a bare name is looked up on the PATH of `env`
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ version?: string, reason: string }>} `version` is undefined when it can't be used, `reason` says why
 */
export async function probeCli(path, env) {
  const result = await runCommand(path, ['--version'], { env, timeoutMs: 30_000 });
  if (!result.ok) {
    const said = lastLines(result.output, 1);
    return { reason: said === '' ? result.reason : `${result.reason}: ${said}` };
  }
  const version = /temporal version v?(\d+\.\d+\.\d+)/.exec(result.output)?.[1];
  if (version === undefined) {
    return { reason: `its --version is not Temporal's: ${lastLines(result.output, 1)}` };
  }
  if (compareVersions(version, cliVersionMin) < 0) {
    return { reason: `version ${version} is too old, ${cliVersionMin} or newer is needed` };
  }
  return { version, reason: '' };
}

/**
 * @param {string} version
 * @returns {boolean} true when it is at least the version planwave is measured with
 */
export function isPreferred(version) {
  return compareVersions(version, cliVersionPreferred) >= 0;
}
