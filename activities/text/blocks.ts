import { removeInvisible } from '../../core/text/cut-text.ts';
import { countBytes, takeLines } from './bytes.ts';

/** Names of all blocks that a prompt may have, in alphabetical order. */
const blockNames = [
  'active_assumptions',
  'agent_tools',
  'agents',
  'allowed_tools',
  'answered_questions',
  'answers',
  'assumptions_made',
  'claims',
  'code_section',
  'compact_md',
  'completion_drive_notes',
  'conflicts',
  'constraints',
  'criteria_met',
  'criteria_unmet',
  'current_text',
  'delegation',
  'detail_index',
  'detailed_md',
  'documents',
  'escalations',
  'effects_claimed',
  'facts',
  'faults',
  'findings',
  'goal',
  'goal_criteria',
  'heard',
  'instruction',
  'instructions',
  'known_details',
  'known_inputs',
  'language',
  'last_decision',
  'left_changes',
  'limits',
  'materials',
  'members',
  'minority_reports',
  'missing_info_requests',
  'news',
  'open_criteria',
  'optional_questions',
  'order',
  'outcomes',
  'output_schema',
  'part',
  'past_delegations',
  'phase_summary',
  'plan',
  'plan_tasks',
  'planner_compact_input',
  'proposal',
  'questions',
  'reason',
  'requested_change',
  'returned',
  'rubric',
  'solution_architect',
  'spec',
  'stale',
  'subject',
  'team',
  'team_instructions',
  'teams',
  'thread_messages',
  'today',
  'triad',
  'triad_judgement',
  'triads',
  'tried',
  'unfinished',
  'upstream_results',
  'workspace_guide',
  'wave_compact',
  'wave_plan',
  'claimed_coverage',
  'completion_notes',
  'failed_output',
  'gathered_evidence',
  'user_guidance',
  'verification_results',
  'work',
  'written_files',
  'your_turn',
] as const;
export type BlockName = (typeof blockNames)[number];

/**
 * Tags in which the engine speaks or which mark the texts of others, and those by which texts often pretend to be an
 * authority for a model. No data may open one.
 */
const engineTags: ReadonlySet<string> = new Set([
  'assistant',
  'data',
  'human',
  'packet',
  'request',
  'role',
  'system',
  'user',
]);

/**
 * Blocks that bind their reader, or tell it what to do. No data may open one, as it is written here: `List<Goal>` in
 * code stays as it is.
 */
const bindingBlocks: ReadonlySet<string> = new Set<BlockName>([
  'answered_questions',
  'answers',
  'constraints',
  'delegation',
  'faults',
  'goal',
  'goal_criteria',
  'instruction',
  'instructions',
  'news',
  'planner_compact_input',
  'requested_change',
  'team_instructions',
  'user_guidance',
  'wave_compact',
  'your_turn',
]);

const closable: ReadonlySet<string> = new Set([...blockNames, ...engineTags]);

/**
 * Renders data of a prompt as a block, `<name>…</name>`. Its content can't close a block, nor open one that binds or is
 * the engine's own: there `<` is escaped. So a goal, an answer or another agent's text can't pose as a block. Every other `<` stays
 * unchanged, because a model has to read code as code. A message names its blocks in words only: a tag stands only
 * where its block stands.
 */
export function textBlock(name: BlockName, text: string, bytesMax: number): string {
  return `<${name}>\n${escapeTags(cutAtLine(text.trimEnd(), bytesMax), '&lt;')}\n</${name}>`;
}

/** Cuts a text to at most `bytesMax` bytes, with a line that says so when it was longer. */
export function cutAtLine(text: string, bytesMax: number): string {
  const shown = takeLines(text, bytesMax);
  if (shown.length === text.length) return text;
  return `${shown.trimEnd()}\n[Cut: ${countBytes(shown)} of ${countBytes(text)} bytes are shown.]`;
}

/** Renders a value as one line of JSON. */
export function jsonBlock(name: BlockName, value: unknown): string {
  return `<${name}>${escapeJson(value)}</${name}>`;
}

/**
 * Renders a list as JSON, as long as its entries fit in `bytesMax`. The number left out is stated outside the block, so
 * that the block stays plain JSON.
 *
 * @param keep which end stays when not all fit.
 */
export function listBlock(
  name: BlockName,
  entries: readonly unknown[],
  bytesMax: number,
  keep: 'first' | 'last' = 'first',
): string {
  const shown = takeEntries(entries, bytesMax, keep);
  const block = jsonBlock(name, shown);
  const left = entries.length - shown.length;
  if (left === 0) return block;
  const which = keep === 'first' ? 'last' : 'oldest';
  return `${block}\n[${name} is cut: the ${which} ${left} of ${entries.length} entries are left out.]`;
}

/** Takes the entries at one end of a list, in its order, as many as fit in `bytesMax` as JSON. */
export function takeEntries<T>(
  entries: readonly T[],
  bytesMax: number,
  keep: 'first' | 'last',
): T[] {
  const ordered = keep === 'first' ? entries : entries.toReversed();
  const shown: T[] = [];
  let bytes = 0;
  for (const entry of ordered) {
    bytes += countBytes(escapeJson(entry)) + 1;
    if (bytes > bytesMax) break;
    shown.push(entry);
  }
  return keep === 'first' ? shown : shown.toReversed();
}

function escapeJson(value: unknown): string {
  return escapeTags(JSON.stringify(value), String.raw`\u003c`);
}

/** Matches the beginning of what may be a tag, also with characters in it that can't be seen and are removed later. */
const tagLike = /<[/\sa-z_\p{Cc}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]*/giu;

/** @param sign replacement for `<`. */
function escapeTags(text: string, sign: string): string {
  return text.replace(tagLike, (start) =>
    opensOurs(removeInvisible(start).text) ? `${sign}${start.slice(1)}` : start,
  );
}

function opensOurs(start: string): boolean {
  const [, slash = '', word = ''] = /^<(\/?)\s{0,4}([a-z_]+)/iu.exec(start) ?? [];
  const lower = word.toLowerCase();
  if (slash !== '') return closable.has(lower);
  return engineTags.has(lower) || bindingBlocks.has(word);
}
