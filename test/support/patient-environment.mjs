import { TestEnvironment } from 'jest-environment-node';

/** Milliseconds that a test or hook with a server may take at least, however busy the machine is. */
const patienceMs = 600_000;

/**
 * Environment of the tests that use servers and processes. A machine that runs them may be several times slower than
 * the one they were written on, so no test or hook is ended before `patienceMs`, whatever timeout it names. Timeouts are
 * bounds for a hanging test, not statements about speed.
 */
export default class PatientEnvironment extends TestEnvironment {
  /** @param {{ name: string, test?: { timeout?: number }, hook?: { timeout?: number } }} event */
  handleTestEvent({ name, test, hook }) {
    const timed = { test_start: test, hook_start: hook }[name];
    if (timed !== undefined) timed.timeout = Math.max(timed.timeout ?? 0, patienceMs);
  }
}
