import { posix } from 'node:path';
import { exitCodes } from '../../client/cli/cli-error.ts';
import {
  memoKeys,
  queryNames,
  searchAttributes,
  signalNames,
  updateNames,
  workflowTypes,
} from '../../contracts/names.ts';
import { defaultLimits } from '../../core/limits.ts';
import { allFiles, listFolders, matchAll, read, sourceFiles } from './repository.ts';

/** Documents drift in silence. What can be compared with the code is compared here. */

describe("ARCHITECTURE.md's code map", () => {
  const mapped = matchAll(read('ARCHITECTURE.md'), /^- `([\w./-]+)\/` — \S/gm);

  it('has a line for every folder', () => {
    const faults = listFolders()
      .filter((folder) => !mapped.includes(folder))
      .map((folder) => `${folder}/ is not on the map. Cure: add "- \`${folder}/\` — what it is"`);
    expect(faults).toEqual([]);
  });

  it('has no line for a folder that does not exist, and none twice', () => {
    const folders = listFolders();
    const faults = mapped
      .filter((folder, index) => !folders.includes(folder) || mapped.indexOf(folder) !== index)
      .map((folder) => `${folder}/ Cure: remove the line`);
    expect(faults).toEqual([]);
  });
});

it('every link between documents leads somewhere', () => {
  const faults = allFiles
    .filter((path) => path.endsWith('.md') && !path.startsWith('agents/'))
    .flatMap((path) =>
      matchAll(read(path), /\]\((?!https?:|#|mailto:)([^)#\s]+)/g)
        .filter((link) => {
          const target = posix.join(posix.dirname(path), link).replace(/\/$/, '');
          return !allFiles.some((file) => file === target || file.startsWith(`${target}/`));
        })
        .map((link) => `${path} links to ${link}, which is missing. Cure: correct the link`),
    );
  expect(faults).toEqual([]);
});

it('every file that ARCHITECTURE.md names exists', () => {
  const named = matchAll(read('ARCHITECTURE.md'), /`((?:[\w-]+\/)+[\w-]+\.\w+)`/g);
  const faults = named
    .filter((path) => !allFiles.includes(path))
    .map((path) => `${path} is missing. Cure: correct the page`);
  expect(faults).toEqual([]);
});

function findUntold(document: string, names: readonly string[]): string[] {
  const text = read(document);
  return names
    .filter((name) => !text.includes(`\`${name}\``))
    .map((name) => `${document} does not tell of ${name}. Cure: describe it there`);
}

it('docs/messages.md has every workflow, message, search attribute and memo field', () => {
  const names = [workflowTypes, signalNames, updateNames, queryNames, searchAttributes].flatMap(
    (group) => Object.keys(group),
  );
  const untold = findUntold('docs/messages.md', [...names, ...Object.values(memoKeys)]);
  expect(untold).toEqual([]);
});

describe('docs/configuration.md', () => {
  const text = read('docs/configuration.md');
  const ours = /\b((?:PLANWAVE|ANTHROPIC)_[A-Z]+(?:_[A-Z]+)*|TEMPORAL_CLI_PATH)\b/g;

  it('has every variable that the code reads', () => {
    const inQuotes = new RegExp(`['"]${ours.source}['"]`, 'g');
    const used = sourceFiles.flatMap((path) => matchAll(read(path), inQuotes));
    expect(findUntold('docs/configuration.md', [...new Set(used)].toSorted())).toEqual([]);
  });

  it('has no variable that nothing reads', () => {
    const code = sourceFiles.map(read).join('\n');
    const unread = [...new Set(matchAll(text, ours))].filter((name) => !code.includes(name));
    expect(unread.map((name) => `${name}. Cure: remove it from the page`)).toEqual([]);
  });

  it.each(Object.entries(defaultLimits))('has the limit %s and its default', (name, value) => {
    expect(text.replaceAll(/ +/g, ' ')).toContain(`| \`${name}\` | ${value} |`);
  });

  it.each(Object.values(exitCodes))('has the exit code %i', (code) => {
    expect(text.replaceAll(/ +/g, ' ')).toContain(`\n| ${code} |`);
  });
});

it('docs/files.md has every file of a run', () => {
  const page = read('docs/files.md');
  const names = matchAll(read('activities/projection/paths.ts'), /([\w]+\.(?:jsonl?|md))[`']/g);
  const faults = names
    .filter((name) => !page.includes(name))
    .map((name) => `docs/files.md does not tell of ${name}. Cure: describe it there`);
  expect(names.length).toBeGreaterThan(5);
  expect(faults).toEqual([]);
});

it('every decision has a number of its own, in order', () => {
  const numbers = allFiles
    .filter((path) => /^docs\/decisions\/\d/.test(path))
    .map((path) => Number(/(\d{4})-[a-z0-9-]+\.md$/.exec(path)?.[1]));
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});
