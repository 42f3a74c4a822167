import { splitStartArguments, startUsage } from './bootstrap/start-arguments.mjs';
import { temporalLinks } from './links.ts';
import { listenForStop } from './parts/stop-signal.ts';
import { say } from './say.ts';
import { readSettings } from './settings.ts';
import { bringUp, stopStack } from './stack.ts';
import { startRun } from './start-run.ts';
import { messageOf } from './bootstrap/expected-error.mjs';

/** The exit code of a command that Ctrl-C ended, by the shell's convention. */
const interruptedExitCode = 130;

/** `npm start -- "<goal>"`: brings everything up, runs one goal to its result, and stops what it started. */
export async function main(args: readonly string[]): Promise<number> {
  const { goal, defaults, rest } = splitStartArguments(args);
  if (goal === '') {
    console.error(startUsage);
    return 2;
  }
  const settings = readSettings();
  const stop = listenForStop();
  const stack = await Promise.race([bringUp(settings, say), stop.asked]);
  if (stack === undefined) return interruptedExitCode;
  console.log(temporalLinks(stack.uiUrl));
  const { temporalAddress } = stack;
  // A failing run part must not keep the stack from being stopped in order.
  const outcome = await Promise.race([
    startRun({ goal, defaults, temporalAddress, home: settings.home, rest }).catch(messageOf),
    stack.givenUp,
    stop.asked,
  ]);
  if (typeof outcome === 'string') console.error(`Giving up: ${outcome}`);
  await stopStack(stack, stop, say);
  console.log(
    'The run is kept. To look at it again, or to let it go on: npm run dev, then npm run planwave -- list',
  );
  if (typeof outcome === 'number') return outcome;
  return outcome === undefined ? interruptedExitCode : 1;
}
