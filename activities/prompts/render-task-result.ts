import type { TurnInput } from '../../contracts/model-turn.ts';
import type { TaskStatus } from '../../contracts/team-run.ts';
import type { ToolResultBlock } from '../../contracts/transcript.ts';
import { engineLimits } from '../../core/limits.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { loadDetailName } from '../tools/registry/load-detail.ts';
import { readOutput } from '../artifacts/read-artifact.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, listBlock, textBlock, type BlockName } from '../text/blocks.ts';
import { cutAtSection } from './cut-at-section.ts';
import { markData } from './mark-data.ts';

type TaskResult = Extract<TurnInput, { type: 'task_result' }>;

/** Replacement for an empty text (seed 002, case 2.4). */
const nothing = '(The member returned nothing.)';

const ends: Readonly<Record<TaskStatus, string>> = {
  completed: 'completed',
  failed: 'failed',
  timed_out: 'ran out of time',
  stopped: 'was stopped',
  skipped: 'was not started',
};

/**
 * Tells a leader the result of a task that it gave out: first the engine's own words, then, as data, what the member wrote. The
 * reason is data too, because it may quote a member.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function renderTaskResult(
  store: ArtifactStore,
  input: TaskResult,
  callKey: string,
): Promise<ToolResultBlock> {
  const { tool_use_id, status, reason, output_ref, partial_ref, files = [] } = input;
  const blocks = [
    ...(reason === '' ? [] : [textBlock('reason', reason, blockBytesMax.task_compact)]),
    ...(output_ref === null ? [] : await renderOutput(store, output_ref, detailIdOf(input))),
    ...listNonEmpty('written_files', files),
    ...(partial_ref === null ? [] : [renderPartial(await store.getText(partial_ref))]),
  ];
  const said =
    blocks.length === 0 ? nothing : markData(blocks.join('\n\n'), `${callKey} ${tool_use_id}`);
  const content = [describe(input), said].join('\n\n');
  return { type: 'tool_result', tool_use_id, content, is_error: status !== 'completed' };
}

/**
 * Describes a result in two lines, of which the first always holds: it stays when the result is left out to save space.
 */
function describe(input: TaskResult): string {
  const { name, member_id, status, attempts, output_ref, partial_ref, files = [] } = input;
  const written = files.length === 0 ? '' : ', with the files that were written for it';
  const tried = attempts === 0 ? '' : ` after ${attempts} attempt${attempts === 1 ? '' : 's'}`;
  const detail =
    output_ref === null
      ? ''
      : ` Its whole result is the detail ${JSON.stringify(detailIdOf(input))}${written}.`;
  const partial = partial_ref === null ? '' : ' What it had written is shown; it is unfinished.';
  const seconds = Math.max(0, Math.floor(input.seconds_left));
  return [
    `Task "${name}" of "${member_id}" ${ends[status]}${tried}.${detail}${partial}`,
    `Left: ${input.delegations_left} tasks to give out, ${seconds} seconds of work for the team.`,
  ].join('\n');
}

/**
 * Returns the id of the result. Deep in teams of teams an id may be longer than `load_detail` takes; there the leader's
 * own name is enough.
 */
function detailIdOf({ delegation_id, name }: TaskResult): string {
  return delegation_id.length <= engineLimits.detailIdCharsMax ? delegation_id : name;
}

async function renderOutput(
  store: ArtifactStore,
  ref: string,
  detail_id: string,
): Promise<string[]> {
  const output = await readOutput(store, ref);
  const more = `All of it: ${loadDetailName} ${JSON.stringify({ detail_id })}.`;
  const { criteria_met, criteria_unmet } = output.coverage;
  const short = cutAtSection(orNothing(output.compact_md), blockBytesMax.task_compact, more);
  const long = cutAtSection(orNothing(output.detailed_md), blockBytesMax.task_detailed, more);
  return [
    textBlock('compact_md', short, Infinity),
    listBlock('criteria_met', criteria_met, blockBytesMax.task_coverage),
    listBlock('criteria_unmet', criteria_unmet, blockBytesMax.task_coverage),
    ...listNonEmpty('facts', output.facts),
    ...listNonEmpty('assumptions_made', output.assumptions_made),
    ...listNonEmpty('optional_questions', output.optional_questions),
    ...listNonEmpty('missing_info_requests', output.missing_info_requests),
    ...listNonEmpty('effects_claimed', output.effects_claimed),
    textBlock('detailed_md', long, Infinity),
  ];
}

function listNonEmpty(name: BlockName, entries: readonly unknown[]): string[] {
  return entries.length === 0 ? [] : [listBlock(name, entries, blockBytesMax.task_facts)];
}

function orNothing(text: string): string {
  return text.trim() === '' ? nothing : text.trimEnd();
}

function renderPartial(text: string): string {
  return textBlock('unfinished', cutAtLine(text, blockBytesMax.task_partial), Infinity);
}
