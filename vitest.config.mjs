import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.mjs';

/**
 * Settings of a project. A machine that runs the tests may be several times slower than the one they were written on, so
 * a timeout is a bound for a hanging test, not a statement about speed: only a test that needs longer names its own.
 *
 * @param {string} name
 * @param {readonly string[]} folders those of its test files
 * @param {number} patienceMs milliseconds that a test or hook may take
 * @param {import('vitest/config').TestProjectInlineConfiguration['test']} [further]
 */
const project = (name, folders, patienceMs, further) => ({
  test: {
    name,
    include: folders.map((folder) => `${folder}/**/*.test.ts`),
    globals: true,
    // Modules are loaded once for all files of a worker: loading them took more time than the fast tests, and a seventh of the others.
    isolate: false,
    // A failure of a rule lists all its faults, each with its cure.
    chaiConfig: { truncateThreshold: 0 },
    setupFiles: ['test/support/each-file.ts'],
    testTimeout: patienceMs,
    hookTimeout: patienceMs,
    ...further,
  },
});

/** One Temporal server and one workflow bundle for all test files of a run. */
const withServer = { globalSetup: ['test/support/global-setup.ts'] };

// eslint-disable-next-line import/no-default-export -- vitest asks for it
export default defineConfig({
  test: {
    // The integration tests mostly wait for servers and timers, so three at a time also suit two cores.
    maxWorkers: 3,
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    projects: [
      project('fast', ['test/unit', 'test/architecture', 'test/replay'], 180_000),
      project('integration', ['test/integration'], 600_000, withServer),
      // What `npm run test:slow` runs; CONTRIBUTING says what belongs there.
      project('slow', ['test/slow'], 600_000, withServer),
    ],
  },
});
