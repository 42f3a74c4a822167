import { assumingAnswerers } from '../../contracts/names.ts';
import type { ContentBlock, Message } from '../../contracts/transcript.ts';
import { isRecord, parseJson } from '../../core/json.ts';
import { type EvidenceSources, checkEvidence } from '../../core/output/check-evidence.ts';
import { AgentOutput, PassingOutput, type Passable } from '../../contracts/agent-output.ts';
import type { TurnOutline } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { Ref } from '../../contracts/ref.ts';
import { checkFailed } from '../../core/output/check-agent-output.ts';
import { findPlaceholders } from '../../core/output/find-placeholders.ts';
import { listNames } from '../../core/text/list-names.ts';
import { appendMarkdown, embedCode } from '../../core/text/markdown.ts';
import type { ToolRegistry } from '../tools/tool.ts';
import { readOutput } from '../artifacts/read-artifact.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readJson } from './read-json.ts';
import { jsonReply, type RefusedReply, type Reply, type ReplyContext } from './stage.ts';

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
  return cutBlocks(blocks, name)
    .map(parseJson)
    .filter((value) => value !== undefined);
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

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}

/** Output of a delegation, whether an agent alone, a member of a triad, or the leader of a team does it. */
export const agentOutput: Reply = {
  ...jsonReply,
  shape: 'agent_output',
  schemaFor: ({ passes }) => (passes ? PassingOutput : AgentOutput),
  async take(text, context) {
    const read = await readReply(text, context);
    if (!read.ok) return read;
    const { value } = read;
    return {
      ok: true,
      text: JSON.stringify(value),
      outline: (ref) => outlineOutput(value, ref, []),
      outlineChecked: (ref) =>
        outlineOutput(value, ref, [
          ...checkFailed(value),
          ...checkEvidence(value, readEvidenceSources(context.messages, context.tools)),
          ...(value.status === 'completed'
            ? findPlaceholders(value.detailed_md, 'detailed_md')
            : []),
        ]),
    };
  },
};

type ReadOutput = { readonly ok: true; readonly value: AgentOutput } | RefusedReply;

/** @throws ArtifactCorrupt or StoreUnavailable from the store. */
async function readReply(text: string, { store, passable }: ReplyContext): Promise<ReadOutput> {
  if (passable === undefined) return readJson(AgentOutput, text);
  const read = readJson(PassingOutput, text);
  return read.ok ? passOn(store, read.value, passable) : read;
}

/** @param text_faults faults of its texts: they are loaded here, and the rules of workflows see none. */
function outlineOutput(
  output: AgentOutput,
  output_ref: Ref,
  text_faults: readonly OutputFault[],
): TurnOutline {
  const { compact_md: _compact, detailed_md: _detailed, facts: stated, ...rest } = output;
  const facts = stated.map((fact) => ({ key: fact.key, value: fact.value }));
  return { shape: 'agent_output', output: { ...rest, facts, text_faults, output_ref } };
}

/**
 * Completes an output that passes texts on: its own `detailed_md`, then the texts that `detailed_from` names, word for
 * word and each once. Later readers of the output find everything in `detailed_md`.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function passOn(
  store: ArtifactStore,
  { detailed_from = [], ...output }: PassingOutput,
  passable: readonly Passable[],
): Promise<ReadOutput> {
  const names = [...new Set(detailed_from)];
  const found = names.map((name) => passable.find((one) => one.names.includes(name)));
  const faults = names.flatMap((name, i) =>
    found[i] === undefined ? [unknownName(name, detailed_from.indexOf(name), passable)] : [],
  );
  if (faults.length > 0) return { ok: false, faults };
  const parts = await Promise.all(
    found.flatMap((one) => (one === undefined ? [] : [readText(store, one)])),
  );
  const written = [output.detailed_md, ...parts].filter((text) => text.trim() !== '');
  if (written.length === 0) return { ok: false, faults: [emptyDetail(passable)] };
  return { ok: true, value: { ...output, detailed_md: written.reduce(appendMarkdown) } };
}

async function readText(store: ArtifactStore, passable: Passable): Promise<string> {
  if (passable.type === 'result') {
    const output = await readOutput(store, passable.output_ref);
    return output.detailed_md;
  }
  const { sections } = passable;
  const texts = await Promise.all(
    sections.map(async ({ section_id, text_ref, language }) => {
      const text = await store.getText(text_ref);
      const shown =
        language === null ? text : embedCode(text, { language, charsMax: Infinity, whole: '' });
      const isNamed = sections.length === 1 || text.trimStart().startsWith('#');
      return isNamed && language === null ? shown : `## ${section_id}\n\n${shown}`;
    }),
  );
  return texts.reduce(appendMarkdown);
}

function unknownName(name: string, at: number, passable: readonly Passable[]): OutputFault {
  return {
    path: `detailed_from[${at}]`,
    reason: `nothing with a result is called ${listNames([name])}`,
    hint:
      passable.length === 0
        ? 'Try: write the result in detailed_md, and leave detailed_from out'
        : `Try: one of ${listNames(passable.flatMap(({ names }) => names.slice(0, 1)))}`,
  };
}

function emptyDetail(passable: readonly Passable[]): OutputFault {
  const names = listNames(passable.flatMap((one) => one.names.slice(0, 1)));
  return {
    path: 'detailed_md',
    reason: 'it is empty, and detailed_from passes nothing on',
    hint: `Try: the whole result in detailed_md${passable.length === 0 ? '' : `, or detailed_from with one of ${names}`}`,
  };
}
