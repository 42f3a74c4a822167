import LightRunner from 'jest-light-runner/child-process';

/** Minutes after which a test file hangs: a bound on a busy machine, not a statement about speed. */
const patienceMinutes = 10;

/**
 * Runner of the project `fast`. Its test files share the modules of a process, so each module is read and compiled once and
 * not once for each file. Light runner waits for a test without end; here a file that hangs ends all tests, with its name.
 */
export default class SharedModulesRunner extends LightRunner {
  /** @type {LightRunner['runTests']} */
  runTests(tests, watcher, onStart, onResult, onFailure) {
    /** @type {Map<string, NodeJS.Timeout>} */
    const timers = new Map();
    /** @template T @param {(test: any, ended: T) => Promise<void>} tell @returns {(test: any, ended: T) => Promise<void>} */
    const ending = (tell) => (test, ended) => {
      clearTimeout(timers.get(test.path));
      return tell(test, ended);
    };
    return super.runTests(
      tests,
      watcher,
      (test) => {
        timers.set(test.path, setTimeout(giveUp, patienceMinutes * 60_000, test.path));
        return onStart(test);
      },
      ending(onResult),
      ending(onFailure),
    );
  }
}

/** @param {string} path of a test file */
function giveUp(path) {
  console.error(`${path} has not ended after ${patienceMinutes} minutes.`);
  process.exit(1);
}
