import { z } from 'zod';
import type { Worktrees } from '../../ports/worktrees.ts';
import { splitPages } from '../../text/bytes.ts';
import { placeOf } from '../place-of.ts';
import type { ReadingTool, ToolContext } from '../tool.ts';

/** Bytes of a page: as of a detail. */
const pageBytes = 20_000;

const common = {
  effect: 'read',
  brings: ['private_data'],
  offeredTo: ['agents'],
  needsWorkspace: true,
} as const;

const GitStatusInput = z.strictObject({});
const GitDiffInput = z.strictObject({ page: z.number().int().min(1).default(1) });

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
