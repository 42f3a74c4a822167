import { BaseSequencer } from 'vitest/node';

/**
 * Order of test files. The longest come first, so that none of them runs alone at the end while the other workers have
 * nothing to do; tests that need much of the one server are separated by tests that mostly wait. vitest itself knows only
 * sizes of files on a machine that has not run them before.
 */
const longest = [
  'chaos/seed-deaths',
  'design/seed-run',
  'process/worker-blocked',
  'chaos/worker-deaths',
  'process/worker-killed',
  'slow/package',
  'chaos/design-deaths',
  'process/effects-killed',
  'design/whole-seed',
  'chaos/crowd',
  'design/judged-work',
  'encryption/encryption',
  'design/escalations',
  'design/lost-design',
  'messages/query-first',
  'slow/documented-commands',
  'verification/triad-verifier',
  'store/two-homes',
  'slow/node-versions',
  'messages/flood',
  'store/bucket-stores',
  'deploys/misfit',
  'faults/workflow-cache',
  'slow/long-texts',
  'client/forks',
  'outside/mcp-serve',
  'scripts/dev-server',
  'design/designed-run',
  'rules/budget-holds',
  'faults/model-outages',
  'messages/hostile',
  'process/effect-killed',
];

/** Implementation of vitest's `sequence.sequencer`. */
export class LongestFirst extends BaseSequencer {
  /**
   * @override
   * @param {import('vitest/node').TestSpecification[]} files
   */
  async sort(files) {
    return files.toSorted(
      (a, b) => rankOf(a.moduleId) - rankOf(b.moduleId) || a.moduleId.localeCompare(b.moduleId),
    );
  }
}

/** @param {string} path */
function rankOf(path) {
  const file = path.replaceAll('\\', '/');
  const place = longest.findIndex((name) => file.endsWith(`/${name}.test.ts`));
  if (place !== -1) return place;
  return /\/test\/(?:integration|slow)\//.test(file) ? longest.length : longest.length + 1;
}
