const shared = {
  testEnvironment: '<rootDir>/test/support/patient-environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
};

/** One Temporal server and one workflow bundle for all test files of a run. */
const withServer = {
  ...shared,
  testEnvironmentOptions: { patienceMs: 600_000 },
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};

export default {
  // The integration tests mostly wait for servers and timers, so three at a time also suit two cores.
  maxWorkers: 3,
  // Modules of finished files are never given back; towards the end collecting them took most of the time.
  workerIdleMemoryLimit: '800MB',
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  // A bound for a hanging test on a busy machine, not a statement about speed.
  testTimeout: 60_000,
  projects: [
    {
      ...shared,
      testEnvironmentOptions: { patienceMs: 180_000 },
      displayName: 'fast',
      roots: ['<rootDir>/test/unit', '<rootDir>/test/architecture', '<rootDir>/test/replay'],
    },
    { ...withServer, displayName: 'integration', roots: ['<rootDir>/test/integration'] },
    // What `npm run test:slow` runs; CONTRIBUTING says what belongs there.
    { ...withServer, displayName: 'slow', roots: ['<rootDir>/test/slow'] },
  ],
};
