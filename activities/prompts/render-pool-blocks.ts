import type { Prompt } from '../../contracts/model-turn.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { Dissent } from '../../contracts/spec.ts';
import { readEnd } from '../../core/executor.ts';
import { engineLimits } from '../../core/limits.ts';
import { dropReplacedOutcomes } from '../../core/schedule/dependencies.ts';
import {
  chooseConflicts,
  chooseSides,
  findConflicts,
  type Conflict,
  type Dispute,
} from '../../core/pool/find-conflicts.ts';
import { readOutput } from '../artifacts/read-artifact.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { loadTexts, textOf } from '../projection/record-texts.ts';
import { treePaths } from '../projection/paths.ts';
import { minorityHeading } from '../projection/render-phase.ts';
import { countBytes } from '../text/bytes.ts';
import {
  currentFacts,
  readDisputes,
  readDissent,
  showFact,
  type Ended,
} from '../artifacts/read-reports.ts';
import { markData } from './mark-data.ts';
import type { Task } from './read-task.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, jsonBlock, listBlock } from '../text/blocks.ts';
import { factsFromOutputs } from '../../core/pool/settle-facts.ts';
import { listLeftChanges } from '../../core/workspace/left-changes.ts';
import { conflictOfMerge, countUnlisted } from '../../core/workspace/run-changes.ts';

type DecisionPrompt = Extract<Prompt, { kind: 'decision' }>;

/**
 * Renders what a decision has to leave without contradiction: the standing facts, the conflicts that it must resolve, and what the
 * members of triads said in those that are theirs. The conflicts are never cut, because each is asked for by name.
 */
export async function renderPoolBlocks(
  store: ArtifactStore,
  record: RunRecord,
  { wave, outcomes, merge_conflicts = [], task_conflicts = [] }: DecisionPrompt,
): Promise<readonly string[]> {
  // The check of the decision knows no others: nothing that a replaced result says is a side of a conflict.
  const standing = dropReplacedOutcomes(outcomes);
  const texts = await loadTexts(store, [{ outputs: standing.map((one) => one.output_ref) }]);
  const disputes = await readDisputes(store, wave, standing);
  const merges = merge_conflicts.map(conflictOfMerge);
  const torn = [...merges, ...disputes.map(({ conflict }) => conflict)];
  const found = findConflicts(
    record.facts,
    factsFromOutputs(wave, standing, (ref) => textOf(texts.outputs, ref)),
  );
  const shown = chooseConflicts(found, torn);
  const asked = disputes.filter(({ conflict }) => shown.includes(conflict));
  const facts = currentFacts(record)
    .filter(({ key }) => key !== null)
    .slice(-engineLimits.factsShownMax)
    .map(showFact);
  return [
    listBlock('facts', facts, blockBytesMax.facts, 'last'),
    jsonBlock('conflicts', shown.map(showConflict)) +
      tellLeft(
        found.length + merges.length + asked.length - shown.length + countUnlisted(merge_conflicts),
        'conflicts are left to the next decision',
      ) +
      tellLeft(disputes.length - asked.length, 'disputes of triads are told in their outputs only'),
    ...(merges.length === 0 ? [] : [mergeWords]),
    ...renderLeftChanges({ waves: [...record.waves, { wave, task_conflicts }] }),
    ...(asked.length === 0 ? [] : [await renderMinorityBlock(store, asked)]),
  ];
}

/** Says what a resolution does to files. */
const mergeWords =
  'A conflict:merge/… is about files: these delegations changed the same lines. The changes of origin stay, those of superseded are dropped: reopen what only they met, and have it done again on top of the others where it is still wanted. Where only the user can choose, ask in user_questions first.';

/** Lists the changes of files that a merge left out. A run has them seldom: without any, nothing is said. */
export function renderLeftChanges({
  waves,
}: {
  readonly waves: Parameters<typeof listLeftChanges>[0];
}): string[] {
  const left = listLeftChanges(waves);
  if (left.length === 0) return [];
  const shown = left.map(({ more: _more, ...one }) => ({
    ...one,
    kept_in: treePaths.worktree(one.delegation_id),
  }));
  return [
    listBlock('left_changes', shown, blockBytesMax.left_changes, 'last') +
      tellLeft(countUnlisted(left), 'tasks of teams are left out and not listed'),
  ];
}

function tellLeft(count: number, what: string): string {
  return count === 0 ? '' : `\n[${count} more ${what}.]`;
}

function showConflict(conflict: Conflict): object {
  const sides = chooseSides(conflict);
  return {
    conflict: conflict.conflict_id,
    sides: sides.map(({ source, value, origin }) => ({ source, value, origin })),
    sides_left_out: conflict.sides.length - sides.length,
  };
}

/** Shows what the members of triads proposed and held against it, for the conflicts that the planner has to resolve. */
async function renderMinorityBlock(
  store: ArtifactStore,
  disputes: readonly Dispute[],
): Promise<string> {
  const reports = await Promise.all(
    disputes.flatMap(({ conflict, dissent }) =>
      dissent.map(async (one) => ({
        conflict: conflict.conflict_id,
        ...(await describeDissent(store, one)),
      })),
    ),
  );
  return listBlock('minority_reports', reports, blockBytesMax.minority_reports);
}

/** Tells who does a task once more what the triad that did it before could not settle. */
export function renderEarlierDissent(
  store: ArtifactStore,
  { record, delegation: { redoes } }: Pick<Task, 'record' | 'delegation'>,
  callKey: string,
): Promise<string[]> {
  const outcomes = record.waves.flatMap((one) => one.outcomes);
  const before = outcomes.findLast(({ delegation_id }) => delegation_id === redoes);
  const executor_end = before === undefined ? null : readEnd(before.executor);
  return renderDissentOf(store, { delegation_id: redoes ?? '', executor_end }, callKey);
}

/** Tells who mends an output alone what the triad that made it could not settle, unless the output that failed shows that. */
export async function renderDissentOfFailed(
  store: ArtifactStore,
  { delegation_id, feedback }: Extract<Prompt, { kind: 'delegation' }>,
  callKey: string,
): Promise<string[]> {
  if (feedback?.executor_end === undefined) return [];
  if (feedback.output_ref !== null) {
    const { detailed_md } = await readOutput(store, feedback.output_ref);
    const isWhole = countBytes(detailed_md) <= blockBytesMax.failed_output;
    if (isWhole && detailed_md.includes(minorityHeading)) return [];
  }
  return renderDissentOf(
    store,
    { delegation_id, executor_end: feedback.executor_end },
    `${callKey} failed`,
  );
}

/** Renders what the triad of an ended delegation, or the triads of its team, could not settle; nothing where all agreed. */
async function renderDissentOf(
  store: ArtifactStore,
  ended: Ended,
  callKey: string,
): Promise<string[]> {
  const triads = await readDissent(store, ended);
  const reports = await Promise.all(
    triads.flatMap(({ delegation_id, dissent }) =>
      dissent.map(async (one) => ({ delegation_id, ...(await describeDissent(store, one)) })),
    ),
  );
  if (reports.length === 0) return [];
  return [
    'A triad worked on this task before. Its members could not settle these points: weigh what each of them holds, and say which you follow.',
    markData(
      listBlock('minority_reports', reports, blockBytesMax.minority_reports),
      `${callKey} dissent`,
    ),
  ];
}

async function describeDissent(
  store: ArtifactStore,
  { claim_id, member, about, proposal_ref, dispute_ref, positions }: Dissent,
): Promise<Record<string, unknown>> {
  const { minority_proposal, minority_reason } = blockBytesMax;
  return {
    claim_id,
    member,
    about,
    proposal: cutAtLine(await store.getText(proposal_ref), minority_proposal),
    ...(dispute_ref !== undefined && {
      contradiction: cutAtLine(await store.getText(dispute_ref), minority_reason),
    }),
    positions: await Promise.all(
      positions.map(async (position) => ({
        member: position.member,
        decision: position.decision,
        reason:
          position.reason_ref === null
            ? null
            : cutAtLine(await store.getText(position.reason_ref), minority_reason),
      })),
    ),
  };
}
