import { codeFiles, read, sourceFiles } from './repository.ts';

/**
 * A rule's header numbers its invariants (` * G1. …`), and a test names the one it proves (`'G1: …'`). A title may cite
 * several, and faults of the fault table with them: `'part of fault 26, M4: …'`.
 */
interface Invariant {
  readonly id: string;
  readonly file: string;
}

const stated: readonly Invariant[] = sourceFiles.flatMap((file) =>
  [...read(file).matchAll(/^\s*\*\s+([A-Z]{1,3}\d+)\. /gm)].map((match) => ({
    id: match[1] ?? '',
    file,
  })),
);

const citation = String.raw`(?:(?:part of )?fault \d+|[A-Z]{1,3}\d+)`;
const titleStart = new RegExp(
  String.raw`(?<=[([,]\s*)['"\`](${citation}(?:(?:, | and )${citation})*):`,
  'g',
);

interface Cited {
  readonly what: string;
  readonly file: string;
}

const cited: readonly Cited[] = codeFiles
  // Tests of a contract run in the test file of each adapter.
  .filter((file) => /^test\/.*(?:\.test|-contract)\.ts$/.test(file))
  .flatMap((file) =>
    [...read(file).matchAll(titleStart)].flatMap((match) =>
      (match[1] ?? '').split(/, | and /).map((what) => ({ what, file })),
    ),
  );

it('every invariant has a test whose title begins with its number', () => {
  const names = new Set(cited.map(({ what }) => what));
  const faults = stated
    .filter(({ id }) => !names.has(id))
    .map(({ id, file }) => `${file}: ${id}. Cure: a test with the title '${id}: …' that proves it`);
  expect(faults).toEqual([]);
});

it('no two invariants have one number', () => {
  const faults = stated.flatMap(({ id, file }, index) => {
    const first = stated.findIndex((other) => other.id === id);
    if (first === index) return [];
    return [`${id} of ${file} is also one of ${stated[first]?.file}. Cure: other letters for one`];
  });
  expect(faults).toEqual([]);
});

it('every list of invariants is numbered', () => {
  const faults = sourceFiles.flatMap((file) =>
    [...read(file).matchAll(/^\s*\*\s+([A-Z])\. /gm)].map(
      (match) => `${file}: "${match[1]}." Cure: a number of its own, such as "${match[1]}1."`,
    ),
  );
  expect(faults).toEqual([]);
});

it('no test names an invariant that no header states', () => {
  const ids = new Set(stated.map(({ id }) => id));
  const faults = cited
    .filter(({ what }) => /^[A-Z]/.test(what) && !ids.has(what))
    .map(({ what, file }) => `${file} names ${what}. Cure: state it in the rule's header`);
  expect(faults).toEqual([]);
});

it('every title about a fault has a number of the fault table', () => {
  const faults = codeFiles
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) =>
      [...read(file).matchAll(/(?<=[([,]\s*)['"`](?:part of )?fault\b([^'"`]{0,6})/g)]
        .filter((match) => !/^ (?:[1-9]|[1-4]\d|5[0-4])[:,]/.test(match[1] ?? ''))
        .map((match) => `${file}: ${match[0]}… Cure: 'fault NN: …' with a number from 1 to 54`),
    );
  expect(faults).toEqual([]);
});
