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
import { drawDiagram } from '../../scripts/diagram.mjs';
import { describeCommands, describeInputs } from '../../scripts/reference.ts';
import { allFiles, listFolders, matchAll, read, sourceFiles } from './repository.ts';

/** Documents drift in silence. What can be compared with the code is compared here. */

/** Documents for people; the Markdown files of `agents/` are prompts. */
const documents = allFiles.filter((path) => path.endsWith('.md') && !path.startsWith('agents/'));

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

it("ARCHITECTURE.md's diagram shows the compiler's project references", () => {
  const page = read('ARCHITECTURE.md');
  // Cure: npm run diagram
  expect(page).toBe(drawDiagram(page, read));
});

it('docs/commands.md and docs/inputs.md show the help and the schemas of this code', async () => {
  // Cure: npm run reference
  expect(read('docs/commands.md')).toBe(await describeCommands());
  expect(read('docs/inputs.md')).toBe(describeInputs());
});

describe('docs/troubleshooting.md', () => {
  const symptoms = matchAll(read('docs/troubleshooting.md'), /^### `(.+)`$/gm);
  /** All texts of the code, with those put together that stand on several lines. */
  const texts = sourceFiles
    .map(read)
    .join('\n')
    .replaceAll(/['"`]\s*\+\s*['"`]/g, '')
    .replaceAll("\\'", "'");

  it.each(symptoms)('quotes a message of the code: %s', (symptom) => {
    // An ellipsis stands for what differs from case to case.
    const parts = symptom.split('…').map((part) => part.trim());
    expect(Math.max(...parts.map((part) => part.length))).toBeGreaterThan(11);
    // Cure: quote the message as the code has it now.
    expect(parts.filter((part) => !texts.includes(part))).toEqual([]);
  });

  it('has a cause and a cure for each of them', () => {
    const sections = read('docs/troubleshooting.md').split(/^### /m).slice(1);
    expect(symptoms.length).toBeGreaterThanOrEqual(25);
    expect(sections).toHaveLength(symptoms.length);
    const faults = sections.filter(
      (one) => !/^- \*\*Cause:\*\* \S/m.test(one) || !/^- \*\*Cure:\*\* \S/m.test(one),
    );
    expect(faults).toEqual([]);
  });
});

it('docs/README.md leads to every page of docs', () => {
  const linked = matchAll(read('docs/README.md'), /\]\(([\w.-]+\.md)[)#]/g);
  const pages = allFiles.filter((path) => /^docs\/(?!README)[^/]+\.md$/.test(path));
  // Cure: add the page to the index.
  expect(pages.filter((path) => !linked.includes(posix.basename(path)))).toEqual([]);
});

it("ARCHITECTURE.md's table of workflows has every workflow and no other", () => {
  const [table = ''] = read('ARCHITECTURE.md').split('Workflow ids are paths');
  const listed = matchAll(table, /^\| `(\w+)`/gm);
  expect(listed.toSorted()).toEqual(Object.keys(workflowTypes).toSorted());
});

it('no document counts the workflow types: the table of ARCHITECTURE.md lists them', () => {
  const counted = /\b(?:two|three|four|five|six|seven|eight|\d+) workflow types\b/i;
  const faults = documents
    .filter((path) => counted.test(read(path)))
    .map((path) => `${path} counts workflow types. Cure: name them, or link to ARCHITECTURE.md`);
  expect(faults).toEqual([]);
});

it('every link between documents leads somewhere', () => {
  const faults = documents.flatMap((path) =>
    matchAll(read(path), /\]\((?!https?:|#|mailto:)([^)#\s]+)/g)
      .filter((link) => {
        const target = posix.join(posix.dirname(path), link).replace(/\/$/, '');
        return !allFiles.some((file) => file === target || file.startsWith(`${target}/`));
      })
      .map((link) => `${path} links to ${link}, which is missing. Cure: correct the link`),
  );
  expect(faults).toEqual([]);
});

/** Anchors as GitHub derives them from headings. */
function listAnchors(page: string): string[] {
  return matchAll(read(page), /^#{1,6} (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it('every link to a section of a document leads to a heading', () => {
  const faults = documents.flatMap((path) =>
    [...read(path).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)]
      .filter(([, file = '', anchor = '']) => {
        const target = file === '' ? path : posix.join(posix.dirname(path), file);
        return !documents.includes(target) || !listAnchors(target).includes(anchor);
      })
      .map(([link]) => `${path} has ${link}. Cure: correct the anchor`),
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

it.each(['docs/seed-003.md', 'docs/failure-modes.md'])('%s names tests that exist', (page) => {
  const cited = [...read(page).matchAll(/`(test\/[\w./-]+)` "([^"]+)"/g)];
  const faults = cited
    .filter(([, file = '', title = '']) => !allFiles.includes(file) || !read(file).includes(title))
    .map(([text]) => `${text} is missing. Cure: name the test that shows it now`);
  expect(cited.length).toBeGreaterThanOrEqual(14);
  expect(faults).toEqual([]);
});

it('docs/failure-modes.md has a test for each of the fourteen modes', () => {
  const rows = read('docs/failure-modes.md').match(/^\| [123]\.\d .*`test\/.*$/gm) ?? [];
  expect(rows).toHaveLength(14);
});

describe('docs/seed-003.md', () => {
  const rows = read('docs/seed-003.md')
    .split('\n')
    .filter((line) => /^\| (?!-|requirement )/.test(line))
    .map((line) => ({ line, shownBy: line.split(' | ')[1] ?? '' }));

  it('names a test, or a reason, for each requirement', () => {
    const faults = rows
      .filter(({ shownBy }) => !/^differs: \S|`test\//.test(shownBy))
      .map(({ line }) => `${line} Cure: name a test, or begin with "differs: "`);
    expect(rows.length).toBeGreaterThan(100);
    expect(faults).toEqual([]);
  });
});
