import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { read, root, sourceFiles } from './repository.ts';

/**
 * Permitted imports. `contracts ← core ← workflows`; `contracts, core ← activities ← adapters`; `contracts, core, redaction, encryption ← client`;
 * `rehearsal`, `redaction` and `encryption` import no other room; `worker` joins ports and adapters; `scripts` start the parts; tests see everything.
 */
const arrows: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  core: ['contracts'],
  redaction: [],
  encryption: [],
  workflows: ['contracts', 'core'],
  activities: ['contracts', 'core'],
  'activities/adapters': ['contracts', 'core', 'activities'],
  client: ['contracts', 'core', 'redaction', 'encryption'],
  rehearsal: [],
  worker: [
    'contracts',
    'core',
    'redaction',
    'encryption',
    'workflows',
    'activities',
    'activities/adapters',
  ],
  library: [
    'contracts',
    'core',
    'workflows',
    'activities',
    'client',
    'rehearsal',
    'worker',
    'scripts',
  ],
  scripts: [
    'contracts',
    'core',
    'redaction',
    'encryption',
    'activities',
    'activities/adapters',
    'client',
    'rehearsal',
    'worker',
  ],
  test: [
    'contracts',
    'core',
    'redaction',
    'encryption',
    'workflows',
    'activities',
    'activities/adapters',
    'client',
    'rehearsal',
    'worker',
    'library',
    'scripts',
  ],
};

const rooms = Object.keys(arrows);

/** Rooms without Node: neither `process` nor `fetch` nor timers exist there. */
const roomsWithoutNode = ['contracts', 'core', 'workflows'];

interface Project {
  readonly compilerOptions: { readonly types: readonly string[] };
  readonly references: readonly { readonly path: string }[];
}

function readProject(room: string): Project {
  const project: Project = JSON.parse(read(`${room}/tsconfig.json`));
  return project;
}

it.each(rooms)('the references of %s are the arrows of the design', (room) => {
  const referenced = readProject(room).references.map(({ path }) => posix.join(room, path));
  // Cure: correct <room>/tsconfig.json, or, when the design has changed, `arrows` above and ARCHITECTURE.md.
  expect(referenced.toSorted()).toEqual(arrows[room]?.toSorted());
});

it('the compiler checks every room', () => {
  const project: Pick<Project, 'references'> = JSON.parse(read('tsconfig.json'));
  expect(project.references.map(({ path }) => path).toSorted()).toEqual(rooms.toSorted());
});

it.each(roomsWithoutNode)('%s knows no types of Node', (room) => {
  expect(readProject(room).compilerOptions.types).toEqual([]);
});

/** Rooms in which no folder imports from one that imports from it, by however many steps. */
const ringFreeRooms = ['contracts', 'activities', 'redaction', 'encryption', 'worker'];

/** The folders that a folder's files import from, by folder. */
function readFolderArrows(): ReadonlyMap<string, ReadonlySet<string>> {
  const arrowsOf = new Map<string, Set<string>>();
  for (const path of sourceFiles) {
    const from = posix.dirname(path);
    const targets = [...read(path).matchAll(/\bfrom '(\.[^']+)'/g)].map(([, to = '']) =>
      posix.dirname(posix.join(from, to)),
    );
    arrowsOf.set(from, new Set([...(arrowsOf.get(from) ?? []), ...targets]));
  }
  return arrowsOf;
}

it.each(ringFreeRooms)('the folders of %s form no ring', (room) => {
  const arrowsOf = readFolderArrows();
  const reach = (folder: string): ReadonlySet<string> => {
    const reached = new Set<string>();
    const open = [folder];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const next of arrowsOf.get(at) ?? []) {
        if (next === at || reached.has(next)) continue;
        reached.add(next);
        open.push(next);
      }
    }
    return reached;
  };
  const rings = [...arrowsOf.keys()]
    .filter((folder) => folder === room || folder.startsWith(`${room}/`))
    .filter((folder) => reach(folder).has(folder))
    .map((folder) => `${folder} reaches itself. Cure: move what both need to a folder below both`);
  expect(rings).toEqual([]);
});

/** A file in a copy of the rooms that breaks one rule. */
interface Probe {
  readonly path: string;
  readonly text: string;
}

const nameOf = (room: string): string => room.replace('/', '-');

/** Values and types come from files of their own: the compiler names a file of another room once for each room. */
function importProbe(from: string, to: string, kind: 'value' | 'type'): Probe {
  const target = posix.relative(from, posix.join(to, `${kind}.ts`));
  const specifier = target.startsWith('.') ? target : `./${target}`;
  const path = `${from}/imports-${kind}-of-${nameOf(to)}.ts`;
  return kind === 'value'
    ? { path, text: `import { fine } from '${specifier}';\nexport const probe = fine;\n` }
    : {
        path,
        text: `import type { fine } from '${specifier}';\nexport type Probe = typeof fine;\n`,
      };
}

const pairs = rooms.flatMap((from) =>
  rooms.filter((to) => to !== from).map((to) => ({ from, to })),
);

const isAllowed = (from: string, to: string): boolean => arrows[from]?.includes(to) === true;

/** The compiler takes the references of references as well; there the linter has to say no. */
const isReachable = (from: string, to: string): boolean =>
  isAllowed(from, to) || arrows[from]?.some((between) => isReachable(between, to)) === true;

const allowed: readonly Probe[] = [
  ...pairs
    .filter(({ from, to }) => isAllowed(from, to))
    .map(({ from, to }) => importProbe(from, to, 'value')),
  // The SDK must not bring Node's types along.
  {
    path: 'workflows/imports-temporal.ts',
    text: `import { sleep } from '@temporalio/workflow';\nexport const probe = sleep;\n`,
  },
];

const forbidden: readonly Probe[] = [
  ...pairs
    .filter(({ from, to }) => !isReachable(from, to))
    .flatMap(({ from, to }) => [importProbe(from, to, 'value'), importProbe(from, to, 'type')]),
  ...roomsWithoutNode.flatMap((room) => [
    {
      path: `${room}/imports-node.ts`,
      text: `import { readFileSync } from 'node:fs';\nexport const probe = readFileSync;\n`,
    },
    { path: `${room}/uses-process.ts`, text: 'export const probe = process.env;\n' },
    { path: `${room}/uses-fetch.ts`, text: `export const probe = fetch('http://localhost');\n` },
    { path: `${room}/uses-timers.ts`, text: 'export const probe = setTimeout(() => {}, 1);\n' },
  ]),
];

/** Violations that the linter must report because the compiler cannot see them. */
const lintProbes: readonly Probe[] = [
  ...pairs
    .filter(({ from, to }) => isReachable(from, to) && !isAllowed(from, to))
    .map(({ from, to }) => importProbe(from, to, 'value')),
  {
    path: 'core/uses-zod.ts',
    text: `import { z } from 'zod';\nexport const probe = z.string();\n`,
  },
  {
    path: 'core/uses-schema.ts',
    text: `import { Slug } from '../contracts/slug.ts';\nexport const probe = Slug;\n`,
  },
  {
    path: 'workflows/uses-schema.ts',
    text: `import { Slug } from '../contracts/slug.ts';\nexport const probe = Slug;\n`,
  },
  { path: 'core/uses-clock.ts', text: 'export const probe = Date.now();\n' },
  { path: 'workflows/uses-clock.ts', text: 'export const probe = Date.now();\n' },
  { path: 'core/uses-chance.ts', text: 'export const probe = Math.random();\n' },
  { path: 'workflows/uses-chance.ts', text: 'export const probe = Math.random();\n' },
  {
    path: 'workflows/uses-client.ts',
    text: `import { Client } from '@temporalio/client';\nexport const probe = Client;\n`,
  },
  {
    path: 'activities/uses-sdk.ts',
    text: `import { Anthropic } from '@anthropic-ai/sdk';\nexport const probe = Anthropic;\n`,
  },
  {
    path: 'rehearsal/uses-sdk.ts',
    text: `import { Anthropic } from '@anthropic-ai/sdk';\nexport const probe = Anthropic;\n`,
  },
  {
    path: 'core/ring-one.ts',
    text: `import type { Two } from './ring-two.ts';\nexport type One = Two | 1;\n`,
  },
  {
    path: 'core/ring-two.ts',
    text: `import type { One } from './ring-one.ts';\nexport type Two = One | 2;\n`,
  },
];

function writeProbes(folder: string, probes: readonly Probe[]): void {
  for (const { path, text } of probes) writeFileSync(join(folder, path), text);
}

/** The rooms with their real settings and, instead of their code, two good files. */
function buildCopy(folder: string): void {
  for (const file of ['tsconfig.base.json', 'tsconfig.json', 'package.json', '.oxlintrc.json']) {
    cpSync(join(root, file), join(folder, file));
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  for (const room of rooms) {
    mkdirSync(join(folder, room), { recursive: true });
    cpSync(join(root, room, 'tsconfig.json'), join(folder, room, 'tsconfig.json'));
    for (const kind of ['value', 'type']) {
      writeFileSync(join(folder, room, `${kind}.ts`), `export const fine = '${room}';\n`);
    }
  }
}

/** @returns what the tool prints, whatever its exit code. */
function outputOf(folder: string, tool: string, args: readonly string[]): string {
  const file = join(root, 'node_modules', tool);
  const { stdout, error } = spawnSync(process.execPath, [file, ...args], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined) throw error;
  return stdout;
}

describe('an arrow that is broken on purpose', () => {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-arrows-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let compiled = new Set<string>();
  let linted: readonly { readonly filename: string; readonly code: string }[] = [];
  beforeAll(() => {
    buildCopy(folder);
    writeProbes(folder, [...allowed, ...forbidden]);
    // One project after the other: a room has to be built before those that import it.
    const oneByOne = ['-b', '--builders', '1', '--pretty', 'false'];
    const errors = outputOf(folder, 'typescript/bin/tsc', oneByOne);
    compiled = new Set(
      [...errors.matchAll(/^([\w./-]+)\(\d+,\d+\): error/gm)].map((m) => m[1] ?? ''),
    );
    writeProbes(folder, lintProbes);
    const report = outputOf(folder, 'oxlint/bin/oxlint', ['--format=json', ...rooms]);
    const { diagnostics }: { diagnostics: typeof linted } = JSON.parse(report);
    linted = diagnostics;
  });

  it('is an error of the compiler', () => {
    const missed = forbidden.filter(({ path }) => !compiled.has(path));
    // Cure: the room's tsconfig.json, its `references` and its `types`.
    expect(missed.map(({ path, text }) => `${path} compiles: ${text}`)).toEqual([]);
  });

  it('is the only thing that the compiler refuses', () => {
    const fine = [...allowed.map(({ path }) => path), ...rooms.map((room) => `${room}/value.ts`)];
    expect(fine.filter((path) => compiled.has(path))).toEqual([]);
  });

  it.each(lintProbes)('is an error of the linter: $path', ({ path }) => {
    const codes = linted.filter(({ filename }) => filename === path).map(({ code }) => code);
    // Cure: `overrides` in .oxlintrc.json.
    expect(codes.join(' ')).toMatch(/no-restricted|no-cycle/);
  });
});
