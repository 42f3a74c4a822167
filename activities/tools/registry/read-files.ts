import { z } from 'zod';
import { readPathCharsMax } from '../../../core/effects/check-workspace-path.ts';
import { engineLimits } from '../../../core/limits.ts';
import type { ListedEntry, ReadLine, SearchMatch, Workspaces } from '../../ports/workspaces.ts';
import { splitPages, takeLines } from '../../text/bytes.ts';
import type { Worktrees } from '../../ports/worktrees.ts';
import { placeOf, type ReadingTool, type ToolContext } from '../tool.ts';

/** Bytes of a page, as of a detail: about 5,000 tokens. */
const pageBytes = 20_000;

/** Characters of one line that are shown. Longer ones are data, not text. */
const lineCharsMax = 2_000;

const pathShape = z.string().max(readPathCharsMax);
const pageShape = z.number().int().min(1).default(1);

const ListFilesInput = z.strictObject({
  path: pathShape.default(''),
  depth: z.number().int().min(1).max(64).default(2),
  page: pageShape,
});

const SearchFilesInput = z.strictObject({
  pattern: z.string().min(1).max(1_000).describe('Regular expression.'),
  path: pathShape.default(''),
  glob: z.string().min(1).max(200).optional().describe('Such as "*.ts" or "src/**".'),
  ignore_case: z.boolean().default(false),
  page: pageShape,
});

const ReadFileInput = z.strictObject({
  path: pathShape.min(1),
  from_line: z.number().int().min(1).default(1),
});

/** Creates the tools that read the run's workspace. */
export function createReadFiles(workspaces: Workspaces): readonly ReadingTool[] {
  return [createListFiles(workspaces), createSearchFiles(workspaces), createReadFile(workspaces)];
}

const common = {
  effect: 'read',
  brings: ['private_data'],
  offeredTo: ['agents'],
  needsWorkspace: true,
} as const;

function createListFiles(workspaces: Workspaces): ReadingTool {
  return {
    ...common,
    spec: {
      name: 'list_files',
      description:
        'Lists files and folders of the workspace with their sizes. Ignored files are left out. ' +
        'Example: {"path":"src","depth":2}',
      input: ListFilesInput,
    },
    async run(input, context) {
      const asked = ListFilesInput.parse(input);
      const place = await placeOf(context);
      const { entries, isCut } = await workspaces.list(place, asked.path, asked.depth);
      const lines = entries.map(describeEntry);
      const more = isCut ? ['[There are more. List a folder, or with a smaller depth.]'] : [];
      if (lines.length === 0) return '[The folder is empty.]';
      return showPage([...lines, ...more].join('\n'), asked.page, (next) =>
        JSON.stringify({ path: asked.path, depth: asked.depth, page: next }),
      );
    },
  };
}

function createSearchFiles(workspaces: Workspaces): ReadingTool {
  return {
    ...common,
    spec: {
      name: 'search_files',
      description:
        'Finds lines in files of the workspace by a regular expression. ' +
        'Example: {"pattern":"function \\\\w+Price","glob":"*.ts"}',
      input: SearchFilesInput,
    },
    async run(input, context) {
      const { page: number, ignore_case, glob = null, ...asked } = SearchFilesInput.parse(input);
      const order = { ...asked, glob, ignoreCase: ignore_case };
      const place = await placeOf(context);
      const { matches, isCut } = await workspaces.search(place, order, context.signal);
      if (matches.length === 0) {
        return `[Nothing was found. Files with more than ${engineLimits.readFileBytesMax} bytes are not searched.]`;
      }
      const more = isCut ? ['[There are more matches. Search for something rarer.]'] : [];
      const text = [...matches.map(describeMatch), ...more].join('\n');
      return showPage(text, number, (next) =>
        JSON.stringify({ ...SearchFilesInput.parse(input), page: next }),
      );
    },
  };
}

function createReadFile(workspaces: Workspaces): ReadingTool {
  return {
    ...common,
    spec: {
      name: 'read_file',
      description:
        'Reads a text file of the workspace, with line numbers and the SHA-256 of the whole. Long files come in pages. ' +
        'Example: {"path":"src/price.ts","from_line":1}',
      input: ReadFileInput,
    },
    listInputs: (input) => [input['path']],
    async run(input, context) {
      const { path: asked, from_line: from } = ReadFileInput.parse(input);
      const range = { from, charsMax: pageBytes, lineCharsMax };
      const read = await workspaces.readLines(await placeOf(context), asked, range);
      const { sha256, bytes } = read;
      if (read.lines === null) {
        throw new Error(
          `${JSON.stringify(asked)} is no text in UTF-8: ${bytes} bytes, SHA-256 ${sha256}.`,
        );
      }
      const total = read.lines_total;
      if (from > Math.max(1, total)) {
        throw new Error(`${JSON.stringify(asked)} has ${total} lines. Try: "from_line":1`);
      }
      const numbered = read.lines.map((line, at) => numberLine(line, from + at));
      const shown = takeLines(numbered.join(''), pageBytes);
      const last = from - 1 + shown.split('\n').filter((line) => line !== '').length;
      const head = `[${JSON.stringify(asked)}: lines ${from}–${last} of ${total}, ${bytes} bytes, SHA-256 ${sha256}]`;
      const next = JSON.stringify({ path: asked, from_line: last + 1 });
      return `${head}\n${shown}${last < total ? `[Go on with ${next}]` : '[The end of the file.]'}`;
    },
  };
}

function numberLine({ text, chars_left: left }: ReadLine, line: number): string {
  const rest = left > 0 ? ` [${left} more characters]` : '';
  return `${String(line).padStart(5)}\t${text}${rest}\n`;
}

function describeEntry({ path: entry, kind, bytes }: ListedEntry): string {
  // A name with a line break must not look like two.
  const name = /[\p{C}\u2028\u2029]/u.test(entry) ? JSON.stringify(entry) : entry;
  if (kind === 'folder') return `${name}/`;
  return kind === 'file' ? `${name} (${bytes} bytes)` : `${name} (no file: can't be read)`;
}

function describeMatch({ path: file, line, text }: SearchMatch): string {
  return `${file}:${line}: ${text}`;
}

function showPage(text: string, number: number, callFor: (page: number) => string): string {
  const pages = splitPages(text, pageBytes);
  const shown = pages[number - 1];
  if (shown === undefined) throw new Error(`there are ${pages.length} page(s). Try: "page":1`);
  if (pages.length === 1) return shown;
  const next = number < pages.length ? ` The next one: ${callFor(number + 1)}` : '';
  return `${shown}\n[Page ${number} of ${pages.length}.${next}]`;
}

const GitStatusInput = z.strictObject({});
const GitDiffInput = z.strictObject({ page: pageShape });

const noRepository =
  'you work in the folder itself, so no changes are known. Try: name the files you changed yourself.';

/** Creates the tools that show what the delegation has changed. Agents have no git of their own. */
export function createGitTools(
  worktrees: Pick<Worktrees, 'listChanges' | 'diff'>,
): readonly ReadingTool[] {
  return [
    {
      spec: {
        name: 'git_status',
        description: 'Lists the files that you have changed in the workspace. Example: {}',
        input: GitStatusInput,
      },
      ...common,
      async run(_input, context) {
        const files = await worktrees.listChanges(await placeOf(context));
        if (files === null) throw new Error(noRepository);
        if (files.length === 0) return 'Nothing is changed.';
        return files.map(({ change, path }) => `${change} ${JSON.stringify(path)}`).join('\n');
      },
    },
    {
      spec: {
        name: 'git_diff',
        description:
          'Shows your changes of the workspace as a patch, in pages of 20 KB. Example: {"page":1}',
        input: GitDiffInput,
      },
      ...common,
      run: (input, context) => showDiff(GitDiffInput.parse(input).page, worktrees, context),
    },
  ];
}

async function showDiff(
  page: number,
  worktrees: Pick<Worktrees, 'diff'>,
  context: ToolContext,
): Promise<string> {
  const patch = await worktrees.diff(await placeOf(context));
  if (patch === null) throw new Error(noRepository);
  if (patch === '') return 'Nothing is changed.';
  const pages = splitPages(patch, pageBytes);
  const text = pages[page - 1];
  if (text === undefined) throw new Error(`there are ${pages.length} pages. Try: {"page":1}`);
  return `${text}\n[Page ${page} of ${pages.length}]`;
}
