import { waveNumber } from '../../core/ids.ts';
import { hashBytes } from '../text/bytes.ts';
import type { TriadPhase } from '../../contracts/triad.ts';
import { Slug } from '../../contracts/agent-definition.ts';

/**
 * Paths in a run's tree, relative to the run's folder. All of them are built here.
 *
 * Ids come from a model: they are slugs by contract, those of a team's tasks slugs joined by dots, and are checked
 * again here because they become names of files.
 */
export const treePaths = {
  sharedStatus: 'shared_status.json',
  pool: 'pool.jsonl',
  questions: 'questions.jsonl',
  effects: 'effects.jsonl',
  /** Full page of a list, by its number from 1: `pool-001.jsonl`. The newest page has the name of the list. */
  page: (list: string, page: number): string =>
    list.replace(/\.jsonl$/, `-${String(page).padStart(3, '0')}.jsonl`),
  result: 'result.md',
  report: 'report.md',
  /** Folder of the agents' files, unless the run's input names another. */
  workspace: 'workspace',
  /** The run's own git repository, when its workspace is one. */
  repository: 'repository.git',
  worktree: (delegationId: string): string => `worktrees/${storedName(delegationId)}`,
  /** Folder below a worktree's that holds its files. */
  worktreeFiles: 'files',
  coordinationPlan: 'workflow_coordination_plan.md',
  agentInstructions: (agentName: string): string =>
    `agents/${slugName(agentName)}/agent_instructions.md`,
  verificationResults: (agentName: string): string =>
    `agents/${slugName(agentName)}/verification_results.json`,
  conversationSummary: (goalTitle: string): string =>
    `conversation_summary_${toTaskName(goalTitle)}.md`,
  waveCompact: (wave: number): string => `${waveFolder(wave)}/wave_compact.md`,
  waveDetailed: (wave: number): string => `${waveFolder(wave)}/wave_detailed.md`,
  plannerDecision: (wave: number): string => `${waveFolder(wave)}/planner_decision.json`,
  /** Output of a delegation, below the agent of the plan, or in a run without one below the registered agent. */
  taskOutput: (agent: string, delegationId: string): string =>
    `agents/${slugName(agent)}/task_output/${slugName(delegationId)}.md`,
  /** Session of completion-drive notes that an agent works in. */
  currentSession: (agent: string): string =>
    `agents/${slugName(agent)}/completion_drive/session_current.json`,
  /** Session that has ended. @param endedAt Unix epoch seconds. @param nth Number of those that the other parts do not tell apart. */
  endedSession: (agent: string, goalTitle: string, endedAt: number, nth = 1): string =>
    `agents/${slugName(agent)}/completion_drive/session_${toMinute(endedAt)}_${toTaskName(goalTitle)}${nth === 1 ? '' : `_${nth}`}.json`,
  /** Log and index of the sessions of a run that has ended. */
  cleanupLog: 'archive/cleanup_log.json',
  archiveIndex: 'archive/archive_index.json',
  triadPhase: (delegationId: string, phase: TriadPhase): string =>
    `triads/${storedName(delegationId)}/${phase}.md`,
  team: (delegationId: string): string => `teams/${storedName(delegationId)}.md`,
} as const;

function waveFolder(wave: number): string {
  if (!Number.isSafeInteger(wave) || wave < 0) throw new Error(`${wave} is no wave number.`);
  return `waves/${waveNumber(wave)}`;
}

/** Renders a time as `YYYYMMDD_HHMM`, in UTC. */
function toMinute(seconds: number): string {
  const digits = new Date(seconds * 1_000).toISOString().replaceAll(/[^0-9]/g, '');
  return `${digits.slice(0, 8)}_${digits.slice(8, 12)}`;
}

/** Returns `task` when the title has no ASCII letter or digit. */
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

/**
 * Works like `slugName`, but accepts a task of a team too: a slug for each level, joined by dots. No slug contains a
 * dot, so no two names are equal.
 */
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
/** Names that Windows reserves for devices, whatever extension follows. */
const device = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/;
const hashDigits = 32;
const prefixCharsMax = 24;

/**
 * Encodes `name` as the name of a file or folder that is unique to it.
 *
 * A plain name (lower-case ASCII letters, digits, `-`, `_`, at most 64) is kept. Any other becomes `<readable
 * beginning>~<hash>`: no separator, dot, upper case or Unicode is left, so that two names which differ in a single code
 * unit differ on every file system. A plain name never contains `~`, so no name can collide with another one's
 * encoding.
 *
 * @param reserved plain names that are already in use in the same folder.
 */
function toPathName(name: string, reserved: readonly string[] = []): string {
  if (plain.test(name) && !device.test(name) && !reserved.includes(name)) return name;
  // UTF-16 keeps lone surrogates apart, which UTF-8 would fold into one replacement character.
  const hash = hashBytes(Buffer.from(name, 'utf16le'));
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

/** Folders of the store in the artifact home, and names reserved for future ones. */
const storeFolders = [
  'segments',
  'effects',
  'refs',
  'research',
  'shared',
  'written',
  'blocked',
  'archive',
  'logs',
  'temporal',
  'tmp',
] as const;

/** Returns the folder of a run below the artifact home: its run_id if that is a plain name, else an encoding of it. */
export function toRunDirectory(runId: string): string {
  return toPathName(runId, storeFolders);
}

/** Returns the folder with the notes of what a run has written in its workspace, below the artifact home. */
export function toWrittenFolder(runId: string): string {
  return `written/${toRunDirectory(runId)}`;
}
