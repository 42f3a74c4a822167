import { z } from 'zod';
import type { EffectVerdict } from '../../../core/effects/step-effect.ts';
import { workspacePathCharsMax } from '../../../core/effects/check-workspace-path.ts';
import type { FileState, Workspaces } from '../../ports/workspaces.ts';
import { hashBytes } from '../../text/bytes.ts';
import { placeOf } from '../place-of.ts';
import type { ActingTool } from '../tool.ts';

/** Maximum characters of a file: twice as much as a model can write in one reply. */
const contentCharsMax = 500_000;

export const writeFileName = 'write_file';

/** The word of `look` when there is no file. */
const noFile = 'no file';

const WriteFileInput = z.strictObject({
  path: z.string().min(1).max(workspacePathCharsMax).describe('Folders and a name, joined by "/".'),
  content: z.string().max(contentCharsMax),
});

/** Creates the tool that writes a text as one file below the run's workspace, whole, in one step. */
export function createWriteFile(workspaces: Workspaces): ActingTool {
  return {
    spec: {
      name: writeFileName,
      description:
        "Writes one text file into the run's workspace, where the user finds it. It replaces a file of that path and " +
        'makes the folders. Use it only when your task asks for a file. The path is relative, without "..", hidden names ' +
        'and links. Example: {"path":"reports/summary.md","content":"# Summary\\n…"}',
      input: WriteFileInput,
    },
    effect: 'acting',
    offeredTo: ['agents'],
    approval: 'by_risk',
    targetOf: (input) => WriteFileInput.parse(input).path,
    async look(input, context) {
      const { path } = WriteFileInput.parse(input);
      return describe(await workspaces.look(await placeOf(context), path));
    },
    async act(input, context) {
      const { path, content } = WriteFileInput.parse(input);
      const place = await placeOf(context);
      return { target: path, ...(await workspaces.write(place, path, content, context.mayStill)) };
    },
    async check(input, before, context) {
      const { path, content } = WriteFileInput.parse(input);
      const now = await workspaces.look(await placeOf(context), path);
      return judge(path, { sha256: hashBytes(content), before, now });
    },
  };
}

function judge(
  path: string,
  {
    sha256,
    before,
    now,
  }: { readonly sha256: string; readonly before: string; readonly now: FileState | null },
): EffectVerdict {
  if (now?.sha256 === sha256) return { type: 'happened', receipt: { target: path, ...now } };
  if (describe(now) === before) return { type: 'absent' };
  const is = now === null ? 'gone' : `${now.bytes} bytes with SHA-256 ${now.sha256}`;
  return {
    type: 'unknown',
    found: `The file was to have the SHA-256 ${sha256}. Before there was ${before}; now it is ${is}.`,
  };
}

function describe(state: FileState | null): string {
  return state === null ? noFile : `a file with SHA-256 ${state.sha256}`;
}
