import { createHash } from 'node:crypto';
import { Slug } from '../../contracts/slug.ts';
import type { TriadPhase } from '../../contracts/triad.ts';
import { waveNumber } from '../../core/ids.ts';

/**
 * Paths in a run's tree, relative to the run's folder. Nothing else builds one.
 *
 * Ids come from a model: they are slugs by contract, those of a team's tasks slugs with dots between them, and checked
 * again here because they become names of files.
 */
export const treePaths = {
  sharedStatus: 'shared_status.json',
  pool: 'pool.jsonl',
  questions: 'questions.jsonl',
  effects: 'effects.jsonl',
  result: 'result.md',
  report: 'report.md',
  /** Of the agents' files, unless the run's input names another folder. */
  workspace: 'workspace',
  conversationSummary: (goalTitle: string): string =>
    `conversation_summary_${toTaskName(goalTitle)}.md`,
  waveCompact: (wave: number): string => `${waveFolder(wave)}/wave_compact.md`,
  waveDetailed: (wave: number): string => `${waveFolder(wave)}/wave_detailed.md`,
  plannerDecision: (wave: number): string => `${waveFolder(wave)}/planner_decision.json`,
  taskOutput: (agentId: string, delegationId: string): string =>
    `agents/${slugName(agentId)}/task_output/${slugName(delegationId)}.md`,
  triadPhase: (delegationId: string, phase: TriadPhase): string =>
    `triads/${storedName(delegationId)}/${phase}.md`,
  team: (delegationId: string): string => `teams/${storedName(delegationId)}.md`,
} as const;

function waveFolder(wave: number): string {
  if (!Number.isSafeInteger(wave) || wave < 0) throw new Error(`${wave} is no wave number.`);
  return `waves/${waveNumber(wave)}`;
}

/** `task` when the title has no ASCII letter or digit. */
function toTaskName(goalTitle: string): string {
  const words =
    goalTitle
      .normalize('NFKD')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const name = words
    .join('_')
    .slice(0, 40)
    .replace(/(?<!_)_+$/, '');
  return name === '' ? 'task' : name;
}

/** As `slugName`, for a task of a team too: a slug for each level, with dots between. No slug has one, so no two are equal. */
function storedName(id: string): string {
  return id.split('.').map(slugName).join('.');
}

function slugName(id: string): string {
  if (!Slug.safeParse(id).success) {
    throw new Error(`${JSON.stringify(id)} is no slug and can't name a file.`);
  }
  return toPathName(id);
}

const plain = /^[a-z0-9][a-z0-9_-]{0,63}$/;
/** Names that Windows gives to devices, whatever extension follows. */
const device = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/;
const hashDigits = 32;
const prefixCharsMax = 24;

/**
 * A name for a file or folder that stands for `name` alone.
 *
 * A plain name (lower-case ASCII letters, digits, `-`, `_`, at most 64) is kept. Any other becomes `<readable
 * beginning>~<hash>`: no separator, dot, upper case or Unicode is left, so that two names which differ in a single code
 * unit differ on every file system. A plain name never holds `~`, so no name can pose as another one's encoding.
 *
 * @param reserved plain names that somebody else uses in the same folder.
 */
function toPathName(name: string, reserved: readonly string[] = []): string {
  if (plain.test(name) && !device.test(name) && !reserved.includes(name)) return name;
  // UTF-16 keeps lone surrogates apart, which UTF-8 would fold into one replacement character.
  const hash = createHash('sha256').update(Buffer.from(name, 'utf16le')).digest('hex');
  return `${readableBeginning(name)}~${hash.slice(0, hashDigits)}`;
}

function readableBeginning(name: string): string {
  const words = name
    .slice(0, 4 * prefixCharsMax)
    .normalize('NFKD')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  const beginning = (words ?? [])
    .join('-')
    .slice(0, prefixCharsMax)
    .replace(/(?<!-)-+$/, '');
  return beginning === '' ? 'x' : beginning;
}

/** Folders of the store in the artifact home, and names kept free for what may come beside them. */
const storeFolders = [
  'objects',
  'ledger',
  'effects',
  'refs',
  'archive',
  'logs',
  'temporal',
  'tmp',
] as const;

/** The folder of a run below the artifact home: its run_id where that is a plain name, else an encoding of it. */
export function toRunDirectory(runId: string): string {
  return toPathName(runId, storeFolders);
}
