import { countBytes, takeLines } from '../tools/cut-bytes.ts';

/** Every block that a prompt may have, in the order of the alphabet. */
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
  'conflicts',
  'constraints',
  'criteria_met',
  'criteria_unmet',
  'current_text',
  'delegation',
  'detail_index',
  'detailed_md',
  'documents',
  'effects_claimed',
  'facts',
  'faults',
  'goal',
  'heard',
  'instruction',
  'instructions',
  'known_details',
  'known_inputs',
  'language',
  'last_decision',
  'limits',
  'members',
  'minority_reports',
  'missing_info_requests',
  'news',
  'open_criteria',
  'order',
  'outcomes',
  'output_schema',
  'part',
  'past_delegations',
  'phase_summary',
  'planner_compact_input',
  'proposal',
  'questions',
  'reason',
  'returned',
  'spec',
  'stale',
  'team',
  'team_instructions',
  'teams',
  'thread_messages',
  'today',
  'triad',
  'triads',
  'tried',
  'unfinished',
  'upstream_results',
  'wave_compact',
  'wave_plan',
  'work',
  'your_turn',
] as const;
export type BlockName = (typeof blockNames)[number];

/**
 * Tags in which the engine speaks or which mark what others wrote, and those by which texts often pretend to be whoever
 * speaks to a model. No data may open one.
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

const closable: ReadonlySet<string> = new Set([...blockNames, ...engineTags]);

/**
 * Data in a prompt stands in blocks, `<name>…</name>`. What stands inside can't close a block, nor open one of the engine's
 * own: there `<` is escaped. So a goal, an answer or another agent's text can't pose as a block. Every other `<` stays as it
 * was typed, because a model has to read code as code. A message names its blocks in words only: a tag stands nowhere but
 * where its block stands.
 */
export function textBlock(name: BlockName, text: string, bytesMax: number): string {
  return `<${name}>\n${escapeTags(cutAtLine(text.trimEnd(), bytesMax), '&lt;')}\n</${name}>`;
}

/** A text of at most `bytesMax` bytes, and a line that says so when it was longer. */
export function cutAtLine(text: string, bytesMax: number): string {
  const shown = takeLines(text, bytesMax);
  if (shown.length === text.length) return text;
  return `${shown.trimEnd()}\n[Cut: ${countBytes(shown)} of ${countBytes(text)} bytes are shown.]`;
}

/** A value as one line of JSON. */
export function jsonBlock(name: BlockName, value: unknown): string {
  return `<${name}>${escapeJson(value)}</${name}>`;
}

/**
 * A list as JSON, as long as its entries fit in `bytesMax`. What is left out is said outside the block, so that the
 * block stays plain JSON.
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

/** The entries at one end of a list, in its order, as many as fit in `bytesMax` as JSON. */
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

/** @param sign what stands in place of `<`. */
function escapeTags(text: string, sign: string): string {
  return text.replace(/<(\/?)\s{0,4}([a-z_]+)/giu, (tag: string, slash: string, word: string) => {
    const names = slash === '' ? engineTags : closable;
    return names.has(word.toLowerCase()) ? `${sign}${tag.slice(1)}` : tag;
  });
}
