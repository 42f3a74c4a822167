/**
 * Order of test files. The longest come first, so that none of them runs alone at the end while the other workers have
 * nothing to do; tests that need much of the one server are separated by tests that mostly wait. jest itself knows only
 * sizes of files on a machine that has not run them before.
 */
const longest = [
  'design/seed-run',
  'chaos/seed-deaths',
  'process/worker-blocked',
  'chaos/worker-deaths',
  'process/worker-killed',
  'slow/package',
  'chaos/design-deaths',
  'process/effects-killed',
  'design/whole-seed',
  'chaos/crowd',
  'store/two-homes',
  'slow/node-versions',
  'messages/flood',
  'store/bucket-stores',
  'deploys/misfit',
  'faults/workflow-cache',
  'slow/long-texts',
  'outside/mcp-serve',
  'scripts/dev-server',
  'design/designed-run',
  'rules/budget-holds',
  'faults/model-outages',
  'messages/hostile',
  'process/effect-killed',
];

/** Implementation of jest's `testSequencer`. */
export default class LongestFirst {
  /**
   * @template {{ readonly path: string }} T
   * @param {readonly T[]} tests
   * @returns {T[]}
   */
  sort(tests) {
    return tests.toSorted(
      (a, b) => rankOf(a.path) - rankOf(b.path) || a.path.localeCompare(b.path),
    );
  }

  /**
   * @template T
   * @param {T} tests
   * @returns {T}
   */
  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}

/** @param {string} path */
function rankOf(path) {
  const file = path.replaceAll('\\', '/');
  const place = longest.findIndex((name) => file.endsWith(`/${name}.test.ts`));
  if (place !== -1) return place;
  return /\/test\/(?:integration|slow)\//.test(file) ? longest.length : longest.length + 1;
}
