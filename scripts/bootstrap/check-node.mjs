import { ExpectedError } from './expected-error.mjs';

/** The oldest Node the packages and the developer tools run on. */
export const nodeVersionMin = '20.19.0';

/**
 * @param {string} left three numbers with dots; a leading `v` and a suffix are ignored
 * @param {string} right the same
 * @returns {number} negative when `left` is older, 0 when equal, positive when newer
 */
export function compareVersions(left, right) {
  const a = versionParts(left);
  const b = versionParts(right);
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/**
 * @param {string} version
 * @returns {[number, number, number]}
 */
function versionParts(version) {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)] : [0, 0, 0];
}

/**
 * @param {string} [version] default: the Node that runs
 * @throws {ExpectedError} when it is too old
 */
export function checkNode(version = process.versions.node) {
  if (compareVersions(version, nodeVersionMin) >= 0) return;
  throw new ExpectedError(
    `planwave needs Node ${nodeVersionMin} or newer; this is Node ${version} (${process.execPath}).\n` +
      'Install a current Node LTS release, for example with a version manager: nvm install 20',
  );
}
