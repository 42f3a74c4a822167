import { z } from 'zod';
import type { EffectReceipt } from '../../../contracts/effect.ts';
import { workspacePathCharsMax } from '../../../core/effects/check-workspace-path.ts';
import { describeEdit, editText, findHiddenSecret } from '../../../core/effects/edit-text.ts';
import { definedOnly, isRecord } from '../../../core/json.ts';
import type { FileState, WorkspacePlace, Workspaces } from '../../ports/workspaces.ts';
import { countBytes, decodeText, hashBytes } from '../../text/bytes.ts';
import { placeOf, type ActContext, type ActingTool, type ToolEntry } from '../tool.ts';
import { checkChange, readStates, stateOf, type States } from './check-change.ts';

/** Maximum characters of a text in a call: twice as much as a model can write in one reply. */
const textCharsMax = 500_000;

const path = z
  .string()
  .min(1)
  .max(workspacePathCharsMax)
  .describe('Folders and a name, joined by "/".');
const WriteFileInput = z.strictObject({ path, content: z.string().max(textCharsMax) });
const DeleteFileInput = z.strictObject({ path });
const EditFileInput = z.strictObject({
  path,
  old_string: z.string().min(1).max(textCharsMax),
  new_string: z.string().max(textCharsMax),
  replace_all: z.boolean().default(false),
});

interface FileChange {
  readonly path: string;
  /**
   * Returns the text after the change; null to remove the file.
   *
   * @param read Reads the present text.
   * @throws what makes the change impossible.
   */
  readonly next: (read: () => Promise<string>) => Promise<string | null>;
  /** Describes the change for the person who approves it, one line each. */
  readonly describe: (found: FileState) => readonly string[];
}

/** Entry of a tool that changes files, and how its arguments are read as a change. */
interface ChangeTool extends Pick<ToolEntry, 'spec' | 'needsWorkspace'> {
  readonly readChange: (input: unknown) => FileChange;
}

const writeFile: ChangeTool = {
  spec: {
    name: 'write_file',
    description:
      "Writes one text file into the run's workspace, where the user finds it. It replaces a file of that path and " +
      'makes the folders. Use it only when your task asks for a file. The path is relative, without "..", hidden names ' +
      'and links. Example: {"path":"reports/summary.md","content":"# Summary\n…"}',
    input: WriteFileInput,
  },
  readChange(input) {
    const { path: target, content } = WriteFileInput.parse(input);
    return {
      path: target,
      async next(read) {
        // A file that is missing or can't be shown has no secret to lose.
        const present = await read().catch(() => content);
        const hidden = findHiddenSecret(present, content);
        if (hidden !== null) throw new Error(hidden);
        return content;
      },
      describe: ({ bytes }) => [
        `It replaces the whole file: ${bytes} bytes before, ${countBytes(content)} bytes after.`,
      ],
    };
  },
};

const editFile: ChangeTool = {
  spec: {
    name: 'edit_file',
    description:
      'Replaces old_string by new_string in a text file of the workspace. old_string must match exactly, without line ' +
      'numbers, and occur once, unless replace_all is true. ' +
      'Example: {"path":"src/price.ts","old_string":"cents / 10","new_string":"cents / 100"}',
    input: EditFileInput,
  },
  needsWorkspace: true,
  readChange(input) {
    const { path: target, ...edit } = EditFileInput.parse(input);
    return {
      path: target,
      async next(read) {
        const edited = editText(await read(), edit);
        if (!edited.ok) throw new Error(edited.reason);
        return edited.text;
      },
      describe: () => describeEdit(edit),
    };
  },
};

const deleteFile: ChangeTool = {
  spec: {
    name: 'delete_file',
    description:
      'Removes one file from the workspace. Use it only when your task asks for it. Example: {"path":"src/old.ts"}',
    input: DeleteFileInput,
  },
  needsWorkspace: true,
  readChange: (input) => ({
    path: DeleteFileInput.parse(input).path,
    next: async () => null,
    describe: ({ bytes }) => [`It removes the file: ${bytes} bytes before.`],
  }),
};

/** Creates the tools that change files of the run's workspace, each in one step. */
export function createChangeFiles(workspaces: Workspaces): readonly ActingTool[] {
  return [writeFile, editFile, deleteFile].map((tool) => createFileTool(workspaces, tool));
}

/**
 * Creates a tool that changes a file. `look` computes the state that the change leads to, so that `check` can tell after
 * a crash whether it took place.
 */
function createFileTool(workspaces: Workspaces, { readChange, ...entry }: ChangeTool): ActingTool {
  const compute = async (change: FileChange, place: WorkspacePlace): Promise<Computed> => {
    let of: string | undefined;
    const next = await change.next(async () => {
      const { content, sha256 } = await workspaces.read(place, change.path);
      of = sha256;
      const text = decodeText(content);
      if (text !== null) return text;
      throw new Error(`${JSON.stringify(change.path)} is no text in UTF-8, so it can't be edited.`);
    });
    return { next, of };
  };
  /** Results of looks by their input: an act of the same attempt need not read the file again. */
  const looked = new WeakMap<object, Computed>();
  return {
    ...entry,
    effect: 'acting',
    // A change tells what is there, if only by failing. Without a workspace there is nothing private.
    brings: entry.needsWorkspace === true ? ['private_data'] : [],
    offeredTo: ['agents'],
    approval: 'by_risk',
    targetOf: (input) => readChange(input).path,
    async describeLoss(input, context) {
      const change = readChange(input);
      const place = await placeOf(context);
      const found = await workspaces.look(place, change.path);
      if (found === null || found.by_run) return null;
      // A call that can't be made is not put to a person.
      await compute(change, place);
      const lines = [
        'The file exists, and this run did not write it. What it holds now is kept.',
        ...change.describe(found),
      ];
      return { before: found.sha256, lines };
    },
    async look(input, context) {
      const change = readChange(input);
      const place = await placeOf(context);
      // Begun at once. What the look refuses is said first.
      const computing = compute(change, place);
      computing.catch(() => {});
      const found = await workspaces.look(place, change.path, { keeps: true });
      const computed = await computing;
      if (isRecord(input)) looked.set(input, computed);
      const { next } = computed;
      if (next === null && found === null) throw new Error('There is no such file.');
      const after = next === null ? null : hashBytes(next);
      const kept = definedOnly({ before_ref: found?.kept_ref, before_mode: found?.kept_mode });
      return JSON.stringify({ before: stateOf(found), after, ...kept } satisfies States);
    },
    async act(input, context) {
      const change = readChange(input);
      const place = await placeOf(context);
      const known = isRecord(input) ? looked.get(input) : undefined;
      const { before } = readStates(context.before);
      const isValid = known !== undefined && (known.of ?? before) === before;
      const { next } = isValid ? known : await compute(change, place);
      // The arguments of an edit do not hold the whole text, which the delegation's detail shows.
      const isKept = next !== null && entry.needsWorkspace === true;
      return makeChange(workspaces, { place, path: change.path, next, isKept }, context);
    },
    async check(input, before, context) {
      const { path: target } = readChange(input);
      const place = await placeOf(context);
      const isKept = entry.needsWorkspace === true;
      return checkChange(workspaces, { place, path: target, isKept }, before, context);
    },
  };
}

interface Computed {
  /** The text after the change; null when the file is removed. */
  readonly next: string | null;
  /** SHA-256 of the content that it was computed from; undefined if none was read. */
  readonly of: string | undefined;
}

interface NewText {
  readonly place: WorkspacePlace;
  readonly path: string;
  /** Null to remove the file. */
  readonly next: string | null;
  /** True to store the text as an artifact too. */
  readonly isKept: boolean;
}

async function makeChange(
  workspaces: Workspaces,
  { place, path: target, next, isKept }: NewText,
  { store, before, mayStill }: ActContext,
): Promise<EffectReceipt> {
  const stored = next !== null && isKept ? store.put(next) : null;
  const terms = {
    expected: readStates(before).before,
    async mayStill() {
      // Stored while the change is made ready, and before it is made.
      await stored;
      await mayStill();
    },
  };
  const [changed, content_ref] = await Promise.all([
    next === null
      ? workspaces.remove(place, target, terms)
      : workspaces.write(place, target, next, terms),
    stored,
  ]);
  return {
    target,
    ...changed,
    ...(content_ref !== null && { content_ref }),
    ...(next === null && { removed: true as const }),
  };
}
