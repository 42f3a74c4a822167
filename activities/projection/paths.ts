import { Slug } from '../../contracts/slug.ts';
import type { TriadPhase } from '../../contracts/triad.ts';
import { waveNumber } from '../../core/ids.ts';
import { toPathName } from './path-name.ts';

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
