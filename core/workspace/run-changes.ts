/**
 * Changes of the same lines by delegations that did not know of each other, as conflicts that the planner's decision
 * resolves by name.
 *
 * Invariants:
 *   MG1. A conflict has two values: the lines as the delegations before it have them, and as this one does. Each delegation
 *        is a side, named by its id.
 *   MG2. The changes of all sides that give way are dropped, and no others. Without a resolution none is dropped.
 *   MG3. A criterion that only dropped work met is reopened by the same decision.
 *   MG4. A leader hears of a conflict between tasks of its team, with the files, in the result of each new task that is a side of it.
 *   MG5. Of a list that is cut, it is said how many conflicts are missing.
 */
import type { OutputFault } from '../../contracts/output-fault.ts';
import { mergeKey } from '../ids.ts';
import { conflictOf } from '../pool/find-conflicts.ts';
import type { Conflict } from '../pool/find-conflicts.ts';
import { keyOfConflict } from '../pool/settle-facts.ts';
import { listNames } from '../text/list-names.ts';
import type { DelegationOutcome, UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { cutText } from '../text/cut-text.ts';
import { countOf } from '../text/format.ts';
import type { PlannerDecision, WaveDecision } from '../../contracts/wave-plan.ts';
import type {
  MergeConflict,
  ChangeSize,
  ProposedChanges,
  WrittenFile,
} from '../../contracts/effect.ts';
import type { RunRecord } from '../../contracts/run-record.ts';

/** Keeps the first conflicts of a list; the last of them says how many there are more. */
export function cutConflicts(conflicts: readonly MergeConflict[], max: number): MergeConflict[] {
  const cut = conflicts.slice(max);
  const unlisted = cut.length + countUnlisted(cut);
  return conflicts.slice(0, max).map((one, at) => {
    const more = unlisted + (one.more ?? 0);
    return at === max - 1 && unlisted > 0 ? { ...one, more } : one;
  });
}

/** Counts the conflicts that were cut off a list. */
export function countUnlisted(conflicts: readonly Pick<MergeConflict, 'more'>[]): number {
  return conflicts.reduce((sum, { more = 0 }) => sum + more, 0);
}

export function conflictOfMerge({ delegation_id, with: others, files }: MergeConflict): Conflict {
  const lines = `lines of ${files.join(', ')}`;
  return conflictOf(mergeKey(delegation_id), [
    ...others.map((source) => ({
      source,
      value: `the earlier ${lines}`,
      origin: 'agent' as const,
    })),
    { source: delegation_id, value: `its own ${lines}`, origin: 'agent' },
  ]);
}

/** @returns ids of the delegations whose changes the resolutions drop. */
export function listDropped(
  conflicts: readonly MergeConflict[],
  resolved: readonly Pick<PlannerDecision['conflicts_resolved'][number], 'conflict' | 'origin'>[],
): readonly string[] {
  const dropped = conflicts.flatMap(({ delegation_id, with: others }) => {
    const entry = resolved.find(
      ({ conflict }) => keyOfConflict(conflict) === mergeKey(delegation_id),
    );
    const stands = entry?.origin.trim() ?? '';
    if (stands === delegation_id) return others;
    return others.includes(stands) ? [delegation_id] : [];
  });
  return [...new Set(dropped)];
}

/** A result of the wave, and the criteria that it meets. */
interface Met {
  readonly delegation_id: string;
  readonly criterion_ids: readonly string[];
}

export function checkReopened(
  dropped: readonly string[],
  results: readonly Met[],
  { criteria_reopened }: Pick<WaveDecision, 'criteria_reopened'>,
): OutputFault[] {
  const reopened = new Set(criteria_reopened.map(({ criterion_id }) => criterion_id));
  const isDropped = ({ delegation_id }: Met): boolean => dropped.includes(delegation_id);
  const standing = new Set(
    results.filter((one) => !isDropped(one)).flatMap((one) => one.criterion_ids),
  );
  return results.filter(isDropped).flatMap(({ delegation_id, criterion_ids }) => {
    const lost = criterion_ids.filter((id) => !standing.has(id) && !reopened.has(id));
    if (lost.length === 0) return [];
    return [
      {
        path: 'criteria_reopened',
        reason: `the changes of ${delegation_id} are dropped, and only they met ${listNames(lost)}`,
        hint: 'Try: reopen each, so that it is met on top of what stands, or let the other side give way',
      },
    ];
  });
}

/** A task of a team, by the leader's name for it. */
interface NamedTask {
  readonly delegation_id: string;
  readonly name: string;
}

/**
 * Tells a team's leader whose changes are left out of the team's.
 *
 * @param ended tasks whose results the leader is about to read.
 * @param all tasks of the team.
 * @returns a text for each task of `ended` that is a side of a conflict, by delegation_id.
 */
export function describeTaskConflicts(
  conflicts: readonly MergeConflict[],
  ended: readonly NamedTask[],
  all: readonly NamedTask[],
): ReadonlyMap<string, string> {
  const find = (tasks: readonly NamedTask[], id: string): NamedTask | undefined =>
    tasks.find(({ delegation_id: own }) => id === own || id.startsWith(`${own}.`));
  const nameOf = (id: string): string => find(all, id)?.name ?? 'the leader';
  const unlisted = countUnlisted(conflicts);
  const further =
    unlisted === 0 ? '' : ` So are those of ${countOf(unlisted, 'more task')}, not listed here.`;
  const texts = new Map<string, string>();
  for (const { delegation_id, with: others, files } of conflicts) {
    const left = nameOf(delegation_id);
    const names = [...new Set(others.map(nameOf))].filter((name) => name !== left);
    const against = names.length === 0 ? 'its own tasks' : listNames(names);
    const text =
      `The changes of ${listNames([left])} are left out, because ${against} changed the same lines of ${listNames(files)}. ` +
      'Try: a further task with the other one among its inputs, so that it is done on top of those changes.' +
      further;
    for (const side of [delegation_id, ...others]) {
      const task = find(ended, side);
      if (task !== undefined) {
        const before = texts.get(task.delegation_id);
        texts.set(task.delegation_id, before === undefined ? text : `${before}\n${text}`);
      }
    }
  }
  return texts;
}

/**
 * Decides whose changes belong together: what a delegation builds on, and what the run as a whole has changed.
 *
 * Invariants:
 *   LF1. A delegation builds on the completed delegations of earlier waves, and on what it depends on, in this order.
 *   LF2. No delegation is listed twice, and none builds on itself.
 *   LF3. The run's changes are those of all completed delegations, in the order of their waves.
 *   LF4. Changes that a decision dropped belong to nothing that comes later.
 *   LF5. The results of a plan's agents are no files of the user's: their folders are named, so that they stay out. A run
 *        without a plan has none.
 *   LF6. Nothing builds on a task of a team that is not completed. Where its files are in no copy, only its leader reads them.
 */

/** A wave as far as it says whose work counts. */
export interface EndedWork {
  /** Delegations whose changes a decision dropped. */
  readonly dropped?: readonly string[];
  readonly outcomes: readonly Pick<DelegationOutcome, 'delegation_id' | 'status'>[];
}

/** A run, with the agents of its plan if it has one. */
interface ChangedWork {
  readonly waves: readonly EndedWork[];
  readonly design?:
    | { readonly plan_agents: readonly { readonly agent_name: string }[] }
    | undefined;
}

/** @returns delegation_ids in the order in which their changes are merged. */
export function listChanges(waves: readonly EndedWork[]): readonly string[] {
  const completed = waves.flatMap(({ outcomes }) =>
    outcomes.filter(({ status }) => status === 'completed'),
  );
  const dropped = new Set(waves.flatMap((wave) => wave.dropped ?? []));
  const ids = completed.map(({ delegation_id }) => delegation_id);
  return [...new Set(ids.filter((id) => !dropped.has(id)))];
}

/** Describes which changes of a run belong into the user's folder: those of which delegations, outside of which folders. */
export function describeChanges({ waves, design }: ChangedWork): {
  readonly delegation_ids: readonly string[];
  readonly results_folders: readonly string[];
} {
  const agents = design?.plan_agents ?? [];
  return {
    delegation_ids: listChanges(waves),
    results_folders: agents.map(({ agent_name }) => `agents/${agent_name}/task_output`),
  };
}

/** Lists the upstream work whose changes of files count. */
export function listUpstream(upstream: readonly UpstreamOutput[]): readonly string[] {
  return upstream.flatMap(({ delegation_id, unfinished }) =>
    unfinished === true ? [] : [delegation_id],
  );
}

/** Lists the files of an upstream result that a task reads with it. @param reader delegation_id of the task. */
export function listReadable(
  { delegation_id, files = [], unfinished }: UpstreamOutput,
  { workspace_dir, changes }: Pick<RunRecord, 'workspace_dir' | 'changes'>,
  reader: string,
): readonly WrittenFile[] {
  const hasCopy = workspace_dir !== undefined && changes !== 'direct';
  const isLeft = unfinished === true && hasCopy && !delegation_id.startsWith(`${reader}.`);
  return isLeft ? [] : files;
}

/** @param upstream delegations that it depends on. */
export function listFoundations(
  delegationId: string,
  waves: readonly EndedWork[],
  upstream: readonly string[],
): readonly string[] {
  const all = new Set([...listChanges(waves), ...upstream]);
  all.delete(delegationId);
  return [...all];
}

/**
 * Asks whether a run's changes belong into the user's folder.
 *
 * Invariants:
 *   CQ1. Without an answer the folder stays as it is.
 *   CQ2. A commit is offered only where nothing but the run's changes would be in it.
 *   CQ3. The question fits into the inbox, whatever the patch is: files first, then the beginning of the patch.
 */

/** Characters of a question's text that the patch may take, and that the files may. */
const patchCharsMax = 1_200;
const filesCharsMax = 400;

export function changesQuestion(proposed: ProposedChanges): AskedQuestion {
  const { dir, files, patch_shown, can_commit } = proposed;
  const names = cutText(
    files.map(({ change, path }) => `${change} ${path}`).join(', '),
    filesCharsMax,
  );
  return {
    text: `The run has changed ${describeSize(proposed)}: ${names}. Bring this into ${cutText(dir, 200)}?\n${cutText(patch_shown, patchCharsMax)}`,
    why_it_matters: `apply: the files are changed, nothing is committed. ${can_commit ? 'commit: as one commit on your branch. ' : ''}keep: your folder stays as it is, and planwave apply brings them in later.`,
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: ['apply', ...(can_commit ? ['commit'] : []), 'keep'],
    default_answer: 'keep',
  };
}

/** Returns text such as `2 files (+10 −3 lines)`. */
export function describeSize({ files_total, lines_added, lines_removed }: ChangeSize): string {
  return `${countOf(files_total, 'file')} (+${lines_added} −${lines_removed} lines)`;
}

export function sumSizes(sizes: readonly ChangeSize[]): ChangeSize {
  const sum = (of: (size: ChangeSize) => number): number =>
    sizes.reduce((total, size) => total + of(size), 0);
  return {
    files_total: sum(({ files_total }) => files_total),
    lines_added: sum(({ lines_added }) => lines_added),
    lines_removed: sum(({ lines_removed }) => lines_removed),
  };
}
