import { basename } from 'node:path';
import { allFiles, codeFiles, read, sourceFiles, testFiles } from './repository.ts';

/** Each test collects one line per fault, and each line ends with its cure. */

function countLines(path: string): number {
  return read(path).replace(/\n$/, '').split('\n').length;
}

function tooLong(paths: readonly string[], linesMax: number, cure: string): string[] {
  return paths
    .map((path) => ({ path, lines: countLines(path) }))
    .filter(({ lines }) => lines > linesMax)
    .map(({ path, lines }) => `${path} has ${lines} lines, at most ${linesMax}. Cure: ${cure}`);
}

it('no source file is longer than 300 lines', () => {
  expect(tooLong(sourceFiles, 300, 'give one of its concepts a file of its own')).toEqual([]);
});

it('no test file is longer than 400 lines', () => {
  expect(tooLong(testFiles, 400, 'split it by what is tested, shared set-up beside it')).toEqual(
    [],
  );
});

it('file names are kebab-case', () => {
  const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z]+)*$/;
  const faults = codeFiles
    .filter((path) => !kebab.test(basename(path)))
    .map((path) => `${path}. Cure: rename it after its main export, in kebab-case`);
  expect(faults).toEqual([]);
});

it('no file is a drawer for everything', () => {
  const drawers = /^(?:utils?|types?|helpers?|common|misc|constants?|index)\.(?:ts|mjs)$/;
  const faults = codeFiles
    .filter((path) => drawers.test(basename(path)) && path !== 'workflows/index.ts')
    .map((path) => `${path}. Cure: name it after the one concept it holds, and move the rest`);
  expect(faults).toEqual([]);
});

it('nothing is exported as default but what vitest loads', () => {
  const loaded = /\.config\.mjs$|^test\/support\/global-setup\.ts$/;
  const faults = codeFiles
    .filter((path) => /^export default /m.test(read(path)) && !loaded.test(path))
    .map((path) => `${path} exports a default. Cure: give the export a name`);
  expect(faults).toEqual([]);
});

it('no file names a machine or a package registry', () => {
  const places: readonly (readonly [RegExp, string])[] = [
    [/(?<![\w.~}-])\/(?:root|work)\/[\w.-]/, 'a path of one machine'],
    [/(?<![\w.~}-])\/(?:home|Users)\/(?!node\b)[a-z]/, 'a home folder of one machine'],
    [/[A-Z]:\\Users\\\w/, 'a home folder of one machine'],
    [/https?:\/\/[^\s/"']*(?:registry|artifactory|nexus|pythonhosted|goproxy)/, 'a registry'],
    [/"resolved": "https?:/, 'a registry'],
  ];
  const faults = allFiles.flatMap((path) => {
    const text = read(path);
    return places.flatMap(([place, what]) => {
      const found = place.exec(text);
      if (found === null) return [];
      const line = text.slice(0, found.index).split('\n').length;
      return [
        `${path}:${line} names ${what}. Cure: make it relative, or take it from the settings`,
      ];
    });
  });
  expect(faults).toEqual([]);
});

/** The first word of each docblock that a file has, with its line. */
function listFirstWords(text: string): { readonly word: string; readonly line: number }[] {
  return [...text.matchAll(/^[ \t]*\/\*\*[\s*]*([A-Za-z]+)/gm)].map((match) => ({
    word: match[1] ?? '',
    line: text.slice(0, match.index).split('\n').length,
  }));
}

it.each([
  ['/** Of a wave. */', 'Of'],
  ['/**\n * What a wave says.\n */', 'What'],
  ['  /** Returns a wave. */', 'Returns'],
])('the first word of %j is %s', (text, word) => {
  expect(listFirstWords(text)).toEqual([{ word, line: 1 }]);
});

it('no docblock begins with a relative word or a condition', () => {
  const everywhere = new Set(['Of', 'Who', 'Whose', 'What']);
  const asking = ['When', 'Where', 'Whether', 'How', 'Why', 'Which', 'Whoever', 'Whatever'];
  const inSource = new Set([...everywhere, ...asking, 'That', 'For', 'If', 'As']);
  const shipped = new Set(sourceFiles);
  const faults = codeFiles.flatMap((path) =>
    listFirstWords(read(path))
      .filter(({ word }) => (shipped.has(path) ? inSource : everywhere).has(word))
      .map(
        ({ word, line }) =>
          `${path}:${line} begins with "${word}". Cure: begin with a verb (function) or a noun phrase (type), such as "Finds" or "Reason why"`,
      ),
  );
  expect(faults).toEqual([]);
});

/** Comments are left out: a string is what follows on a line after code. */
function dropComments(code: string): string {
  return code.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');
}

it('documents and the command line name the actor, never somebody or nobody', () => {
  const vague = /\b(?:somebody|nobody)\b/i;
  const texts = [
    ...allFiles
      .filter((path) => path.endsWith('.md') && !path.startsWith('agents/'))
      .map((path) => [path, read(path)] as const),
    ...sourceFiles
      .filter((path) => /^(?:client|scripts)\//.test(path))
      .map((path) => [path, dropComments(read(path))] as const),
  ];
  const faults = texts
    .filter(([, text]) => vague.test(text))
    .map(([path, text]) => `${path}: "${vague.exec(text)?.[0]}". Cure: name who or what acts`);
  expect(faults).toEqual([]);
});

/** Scripts and people rely on these. */
const commands = [
  'start',
  'test',
  'bench',
  'dev',
  'temporal',
  'worker',
  'rehearsal',
  'planwave',
  'chaos',
  'check',
] as const;

interface PackageFile {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function readPackage(): PackageFile {
  const file: PackageFile = JSON.parse(read('package.json'));
  return file;
}

it.each(commands)('the command npm run %s exists, and so does what it starts', (command) => {
  const line = readPackage().scripts[command];
  if (line === undefined) {
    throw new Error(`package.json has no script "${command}". Cure: add it; its name is promised.`);
  }
  const missing = [...line.matchAll(/\bnode ([\w./-]+\.mjs)/g)]
    .map((match) => match[1] ?? '')
    .filter((path) => !allFiles.includes(path))
    .map((path) => `"${command}" starts ${path}, which is missing. Cure: correct the path`);
  expect(missing).toEqual([]);
});

it('every package has an exact version', () => {
  const { dependencies, devDependencies } = readPackage();
  const faults = Object.entries({ ...dependencies, ...devDependencies })
    .filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
    .map(([name, version]) => `${name}: "${version}". Cure: npm install --save-exact ${name}@…`);
  expect(faults).toEqual([]);
});

it('all parts of the Temporal SDK have one version', () => {
  const { dependencies, devDependencies } = readPackage();
  const parts = Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) =>
    name.startsWith('@temporalio/'),
  );
  const versions = new Set(parts.map(([, version]) => version));
  const list = parts.map(([name, version]) => `${name} ${version}`);
  expect(versions.size === 1 ? [] : [...list, 'Cure: raise them together']).toEqual([]);
});
