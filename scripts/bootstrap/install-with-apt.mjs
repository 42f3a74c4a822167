import { existsSync } from 'node:fs';
import { lastLines, runCommand } from './run-command.mjs';

/**
 * Installs a Debian package, where that is possible without asking: as root on a Debian-like system.
 *
 * @param {string} name of the package
 * @param {object} options
 * @param {NodeJS.ProcessEnv} options.env
 * @param {string[]} options.tried gets the reason when it is not possible
 * @param {string} options.purpose of the package, for people
 * @param {(line: string) => void} options.say
 * @returns {Promise<boolean>}
 */
export async function installWithApt(name, { env, tried, purpose, say }) {
  if (!existsSync('/etc/debian_version')) {
    tried.push('apt-get: this is not a Debian-like system');
    return false;
  }
  if (process.getuid?.() !== 0) {
    tried.push(`apt-get install ${name}: not root`);
    return false;
  }
  say(`Installing ${purpose} (apt-get install ${name}) …`);
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', name]]) {
    const step = await runCommand('apt-get', args, {
      env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (!step.ok) {
      tried.push(`apt-get ${args[0]}: ${step.reason}\n${lastLines(step.output, 2)}`);
      return false;
    }
  }
  return true;
}
