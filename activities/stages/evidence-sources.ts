import { assumingAnswerers } from '../../contracts/names.ts';
import type { ContentBlock, Message } from '../../contracts/transcript.ts';
import { isRecord } from '../../core/is-record.ts';
import type { EvidenceSources } from '../../core/output/check-evidence.ts';
import type { ToolRegistry } from '../tools/tool.ts';

/** The inputs that every agent is given. */
const givenToAll = ['goal', 'constraints', 'instructions', 'planner_compact_input', 'wave_compact'];

/** Lists the places that an agent's evidence can name, from all that its conversation holds. */
export function readEvidenceSources(
  messages: readonly Message[],
  tools: ToolRegistry,
): EvidenceSources {
  const blocks = messages.flatMap(({ content }) => content);
  const failed = new Set(
    blocks.flatMap((block) =>
      block.type === 'tool_result' && block.is_error ? [block.tool_use_id] : [],
    ),
  );
  const answered = new Set(
    blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : [])),
  );
  const calls = blocks.flatMap((block) =>
    block.type === 'tool_use' && answered.has(block.id) && !failed.has(block.id) ? [block] : [],
  );
  const loaded = calls.flatMap(({ name, input }) =>
    isRecord(input) ? textsOf(tools.get(name)?.listInputs?.(input)) : [],
  );
  const delegations = readBlocks(blocks, 'delegation').filter(isRecord);
  const given = delegations.flatMap((one) => [
    ...textsOf(one['required_inputs']),
    ...textsOf(one['provided_inputs']),
  ]);
  const answers = [
    ...readEntries(blocks, 'answered_questions'),
    ...readEntries(blocks, 'answers'),
    ...readEntries(blocks, 'news'),
  ].filter(({ answered_by }) => !assumingAnswerers.includes(String(answered_by)));
  return {
    tools: unique(calls.flatMap(({ name, id, input }) => [name, id, ...namesIn(input)])),
    answers: unique(textsOf(answers.map(({ question_id }) => question_id))),
    inputs: unique([...givenToAll, ...given, ...listResults(blocks), ...loaded]),
  };
}

/**
 * Lists the delegation_ids and names of the results that the task builds on: each result begins with a line that
 * contains them.
 */
function listResults(blocks: readonly ContentBlock[]): string[] {
  return cutBlocks(blocks, 'upstream_results').flatMap((text) =>
    text.split('\n').flatMap((line) => {
      if (!line.startsWith(resultHeading)) return [];
      const [id = ''] = line.slice(resultHeading.length).split(/[ :,]/u, 1);
      const also = line.slice(resultHeading.length + id.length);
      const names = also.startsWith(' (') ? also.slice(2).split(')', 1)[0]?.split(', ') : [];
      return [id, ...(names ?? [])];
    }),
  );
}

const resultHeading = '# Result of ';

/** Reads the name that a leader gave to a task. */
function namesIn(input: unknown): string[] {
  return isRecord(input) ? textsOf([input['name']]) : [];
}

function readEntries(blocks: readonly ContentBlock[], name: string) {
  return readBlocks(blocks, name).flatMap((value) =>
    Array.isArray(value) ? value.filter(isRecord) : [],
  );
}

/** Reads the JSON in all blocks of a name. Invalid JSON is skipped. */
function readBlocks(blocks: readonly ContentBlock[], name: string): unknown[] {
  return cutBlocks(blocks, name).flatMap(parse);
}

/** Returns the contents of all blocks of a name, in messages that the engine wrote. */
function cutBlocks(blocks: readonly ContentBlock[], name: string): string[] {
  const open = `<${name}>`;
  const close = `</${name}>`;
  return blocks.flatMap((block) => {
    if (block.type !== 'text') return [];
    return block.text
      .split(open)
      .slice(1)
      .flatMap((part) => {
        const end = part.indexOf(close);
        return end < 0 ? [] : [part.slice(0, end)];
      });
  });
}

function parse(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
