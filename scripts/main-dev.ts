import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type Settings, readSettings } from './parts/settings.ts';
import { listenForStop } from './parts/supervise.ts';
import { say, temporalLinks } from './say.ts';
import { type Stack, bringUp, stopStack } from './stack.ts';
import { commandText, quoteWord } from '../core/text/format.ts';

const pollEveryMs = 500;

/**
 * Shows what is appended to a file, line by line. Follows the name: a file that is replaced is read from its start.
 *
 * @returns stops following
 */
function followFile(path: string, show: (line: string) => void): () => void {
  let offset = 0;
  let inode = 0;
  let partial = '';
  const look = () => {
    const file = openOrUndefined(path);
    if (file === undefined) return;
    try {
      const { ino, size } = fstatSync(file);
      if (ino !== inode) offset = 0;
      inode = ino;
      if (size <= offset) return;
      const bytes = Buffer.alloc(size - offset);
      offset += readSync(file, bytes, 0, bytes.length, offset);
      const lines = (partial + bytes.toString('utf8')).split('\n');
      partial = lines.pop() ?? '';
      for (const line of lines) show(line);
    } finally {
      closeSync(file);
    }
  };
  const timer = setInterval(look, pollEveryMs);
  return () => {
    clearInterval(timer);
    look();
  };
}

function openOrUndefined(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}

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
    setup.push(`export PLANWAVE_HOME=${quoteWord(settings.home)}`);
  return [
    ...setup,
    commandText('start', '--watch') + ' "Plan the move of our shop to a second data centre"',
    commandText('list'),
    commandText('questions'),
    commandText('view'),
  ];
}
