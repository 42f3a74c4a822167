import { TestEnvironment } from 'jest-environment-node';

/**
 * Environment of all tests. A machine that runs them may be several times slower than the one they were written on, so no
 * test or hook is ended before the `patienceMs` of its project, whatever timeout it names. Timeouts are bounds for a
 * hanging test, not statements about speed.
 */
export default class PatientEnvironment extends TestEnvironment {
  /** Milliseconds that a test or hook may take at least. */
  #patienceMs;

  /** @param {ConstructorParameters<typeof TestEnvironment>} made */
  constructor(...made) {
    super(...made);
    const [{ projectConfig }] = made;
    this.#patienceMs = Number(projectConfig.testEnvironmentOptions['patienceMs']);
  }

  /** @param {{ name: string, test?: { timeout?: number }, hook?: { timeout?: number } }} event */
  handleTestEvent({ name, test, hook }) {
    const timed = { test_start: test, hook_start: hook }[name];
    if (timed !== undefined) timed.timeout = Math.max(timed.timeout ?? 0, this.#patienceMs);
  }
}
