import type { Command } from 'commander';
import type { CliDeps } from '../../client/cli/cli-deps.ts';
import { createProgram } from '../../client/cli/commands/program.ts';
import { inputSchemas } from '../../scripts/reference.ts';
import { allFiles, read } from './repository.ts';

/** Examples that readers copy: the workflows have to accept the inputs, and commands and options have to exist. */

const documents = allFiles.filter((path) => path.endsWith('.md') && !path.startsWith('agents/'));

const started = documents.flatMap((path) =>
  [...read(path).matchAll(/workflow start --type (\w+)[^{`]*--input '([^']*)'/g)].map((match) => ({
    path,
    type: match[1] ?? '',
    input: match[2] ?? '',
  })),
);

it('documents show how each workflow is started', () => {
  expect(new Set(started.map(({ type }) => type))).toEqual(new Set(Object.keys(inputSchemas)));
});

it.each(started)('$path: $type takes $input', ({ type, input }) => {
  expect(inputSchemas[type]?.safeParse(JSON.parse(input)).error).toBeUndefined();
});

/** Commands are registered without any of these being read. */
const deps: CliDeps = Object.create(null);

const { commands } = await createProgram(null, deps);

const typed = documents.flatMap((path) =>
  [
    ...read(path).matchAll(/`planwave ([a-z]+(?:-[a-z]+)*)([^`|]*)`/g),
    ...read(path).matchAll(/npm run planwave -- ([a-z]+(?:-[a-z]+)*)([^\n`]*)/g),
  ].map((match) => ({ path, name: match[1] ?? '', rest: (match[2] ?? '').replace(/\s#.*/, '') })),
);

/** Long options of a command, and of those below it. */
function listOptions(command: Command): string[] {
  return [
    ...command.options.map(({ long }) => long ?? ''),
    ...command.commands.flatMap(listOptions),
  ];
}

it('documents name commands and options that exist', () => {
  const faults = typed.flatMap(({ path, name, rest }) => {
    const command = commands.find((one) => one.name() === name);
    if (command === undefined) return [`${path}: planwave ${name} does not exist`];
    const known = new Set(['--help', ...listOptions(command)]);
    const used = name === 'temporal' ? [] : (rest.match(/--[a-z-]+/g) ?? []);
    return used
      .filter((option) => !known.has(option))
      .map((option) => `${path}: planwave ${name} has no option ${option}`);
  });
  expect(typed.length).toBeGreaterThan(30);
  expect(faults).toEqual([]);
});
