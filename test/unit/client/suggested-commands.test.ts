import type { Command } from 'commander';
import { createProgram } from '../../../client/cli/commands/program.ts';
import { read, sourceFiles } from '../../architecture/repository.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';

/** Arguments of each call of `commandText` in a text, up to its closing bracket. */
function listCalls(code: string): string[] {
  return code
    .split('commandText(')
    .slice(1)
    .map((rest) => {
      let depth = 1;
      let at = 0;
      while (at < rest.length && depth > 0) {
        if (rest[at] === '(') depth += 1;
        if (rest[at] === ')') depth -= 1;
        at += 1;
      }
      return rest.slice(0, at - 1);
    });
}

/** Returns the innermost command that the words name, or the word that names none. */
function findCommand(program: Command, words: readonly string[]): Command | string {
  let command = program;
  for (const word of words) {
    if (command.commands.length === 0) break;
    const inner = command.commands.find((one) => one.name() === word);
    if (inner === undefined) return word;
    command = inner;
  }
  return command;
}

it('each command that a text suggests exists, and has the options that stand behind it', async () => {
  const program = await createProgram(null, createFakeDeps(createFakeIo()));
  const suggested = sourceFiles.flatMap((path) =>
    listCalls(read(path)).map((call) => ({ path, call })),
  );
  const unknown = suggested.filter(({ call }) => {
    const words = [...call.matchAll(/(?<=^|, )'([\w-]+)'/g)].map(([, word = '']) => word);
    const names = words.filter((word) => !word.startsWith('-'));
    if (!call.trim().startsWith("'") || names.length === 0 || names[0] === 'temporal') return false;
    const command = findCommand(program, names);
    if (typeof command === 'string') return true;
    const options = command.options.map(({ long }) => long);
    return words.some((word) => word.startsWith('--') && !options.includes(word));
  });
  expect(suggested.length).toBeGreaterThan(80);
  expect(unknown).toEqual([]);
});
