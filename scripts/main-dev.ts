import { join } from 'node:path';
import { followFile } from './parts/follow-file.ts';
import { listenForStop } from './parts/stop-signal.ts';
import { say, temporalLinks } from './say.ts';
import { readSettings, type Settings } from './parts/settings.ts';
import { bringUp, stopStack, type Stack } from './stack.ts';

/** Runs `npm run dev`: server, model and worker in the foreground until Ctrl-C. */
export async function main(): Promise<number> {
  const settings = readSettings();
  const stop = listenForStop();
  // A Ctrl-C during the start ends this process at once; the parts notice and end too.
  const stack = await Promise.race([bringUp(settings, say), stop.asked]);
  if (stack === undefined) return 0;
  console.log(welcome(settings, stack));
  const unfollow = followFile(stack.workerLogFile, (line) => console.log(`worker | ${line}`));
  const reason = await Promise.race([stack.givenUp, stop.asked]);
  if (reason !== undefined) console.error(`Giving up: ${reason}`);
  await stopStack(stack, stop, say);
  unfollow();
  return reason === undefined ? 0 : 1;
}

function welcome(settings: Settings, stack: Stack): string {
  const model =
    stack.rehearsalUrl === undefined
      ? 'Model:      the Anthropic API that the environment names'
      : `Model:      rehearsal at ${stack.rehearsalUrl} (set ANTHROPIC_API_KEY for a real one)`;
  return [
    '',
    'planwave is up.',
    temporalLinks(stack.uiUrl),
    model,
    `Files:      ${settings.home}`,
    `Logs:       ${join(settings.home, 'temporal')}`,
    '',
    'Next, in another terminal:',
    ...nextCommands(settings, stack).map((command) => `  ${command}`),
    'Ctrl-C stops everything; runs go on where they were at the next start.',
    '',
  ].join('\n');
}

/** Returns commands for another terminal, which has to know ports and home if they differ from the defaults. */
function nextCommands(settings: Settings, stack: Stack): string[] {
  const isUsual = stack.temporalAddress === '127.0.0.1:7233';
  const setup = isUsual ? [] : [`export TEMPORAL_ADDRESS=${stack.temporalAddress}`];
  if (process.env['PLANWAVE_HOME'] !== undefined)
    setup.push(`export PLANWAVE_HOME=${settings.home}`);
  return [
    ...setup,
    'npm run planwave -- start --watch "Plan the move of our shop to a second data centre"',
    'npm run planwave -- list',
    'npm run planwave -- questions <run>',
  ];
}
