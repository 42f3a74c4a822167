import type Anthropic from '@anthropic-ai/sdk';
import { AgentOutput } from '../../../contracts/agent-output.ts';
import type { TurnBrief } from '../../../contracts/member-turn.ts';
import type { SpecState } from '../../../contracts/spec.ts';
import type { TriadPhase, TriadType } from '../../../contracts/triad.ts';
import { openSpec } from '../../../core/spec/read-spec.ts';
import { findOpenDuties } from '../../../core/triad/find-open-duties.ts';
import { judgeCall, openWork, takeCode } from '../../../core/triad/judge-call.ts';
import type { TurnWork } from '../../../core/triad/judged-call.ts';
import type { PhaseState, TurnOrder } from '../../../core/triad/phase-state.ts';
import { resolveTriad } from '../../../core/triad/resolve-triad.ts';
import { listNegotiators } from '../../../core/triad/roles.ts';
import { openPhase, stepPhase } from '../../../core/triad/step-phase.ts';
import { triad, triadWork } from '../../support/scripted-triad.ts';
import { readStateCall } from './read-state-call.ts';
import { paramsFor, plainFormat, textOf } from './support.ts';
import { codePrompt, memberPrompt, turnBlocks } from './triad-prompts.ts';

/** What a rehearsed triad did. */
export interface PlayedTriad {
  /** `phase member round: tool tool …` for each reply, in their order. */
  readonly replies: readonly string[];
  /** What calls came back with as errors. */
  readonly refused: readonly string[];
  /** What members said, and the code. */
  readonly said: readonly string[];
  readonly specs: Readonly<Record<TriadPhase, SpecState>>;
  readonly output: AgentOutput;
}

interface Room {
  readonly client: Anthropic;
  readonly setup: PhaseState['setup'];
  readonly delegation: unknown;
  readonly texts: Map<string, string>;
  readonly replies: string[];
  readonly refused: string[];
  readonly said: string[];
  output: AgentOutput | null;
}

/** A member's conversation in a phase, and the results that wait for its next turn. */
interface Talk {
  readonly messages: Anthropic.MessageParam[];
  results: Anthropic.ToolResultBlockParam[];
}

/** Replies that a turn may take: more would be a turn that never ends. */
const repliesMax = 3;

/**
 * Has the rehearsal model play all phases of a triad. The engine's own rules judge what it replies.
 *
 * @param sections what each section is to be, by the id of section and criterion.
 */
export async function playTriad(
  client: Anthropic,
  type: TriadType,
  sections: Readonly<Record<string, string>>,
  task_description = 'Plan the bakery.',
): Promise<PlayedTriad> {
  const section_ids = Object.keys(sections);
  const setup = resolveTriad({ ...triad(type), section_ids });
  const delegation = triadWork('bakery', type, { criteria: section_ids, task_description });
  const texts = new Map(Object.entries(sections));
  const done = { replies: [], refused: [], said: [], output: null };
  const room: Room = { client, setup, delegation, texts, ...done };
  const open = openSpec(section_ids, listNegotiators(setup.members));
  const deliberate = await playPhase(room, 'deliberate', open, null);
  const negotiate = await playPhase(room, 'negotiate', deliberate.spec, deliberate.summary);
  const execute = await playPhase(room, 'execute', negotiate.spec, negotiate.summary);
  if (room.output === null) throw new Error('The triad gave no output.');
  const specs = { deliberate: deliberate.spec, negotiate: negotiate.spec, execute: execute.spec };
  return { ...room, specs, output: room.output };
}

async function playPhase(
  room: Room,
  phase: TriadPhase,
  spec: SpecState,
  before: PhaseState['summary'],
): Promise<PhaseState> {
  const talks = new Map<string, Talk>();
  const opened = openPhase(room.setup, phase, { spec, summary_ref: before?.summary_ref ?? null });
  let { state } = opened;
  const orders = [...opened.start];
  for (let order = orders.shift(); order !== undefined; order = orders.shift()) {
    const { name } = order.brief.member;
    const talk = talks.get(name) ?? { messages: [], results: [] };
    talks.set(name, talk);
    // One after the other: who is faster changes nothing.
    // oxlint-disable-next-line no-await-in-loop
    const step = await takeTurn(room, state, order, talk);
    ({ state } = step);
    orders.push(...step.start);
  }
  expect(state.stage).toBe('ended');
  return state;
}

async function takeTurn(
  room: Room,
  state: PhaseState,
  { turn, brief }: TurnOrder,
  talk: Talk,
): Promise<ReturnType<typeof stepPhase>> {
  const { goal, read } = { goal: 'Open a bakery', read: (ref: string) => readText(room, ref) };
  const texts = { goal, delegation: room.delegation, read };
  const render = talk.messages.length === 0 ? memberPrompt : turnBlocks;
  let text: string | null = render(brief, texts);
  let work = openWork(brief);
  for (let count = 1; count <= repliesMax; count += 1) {
    const asked = text === null ? [] : [{ type: 'text' as const, text }];
    talk.messages.push({ role: 'user', content: [...talk.results, ...asked] });
    text = null;
    // oxlint-disable-next-line no-await-in-loop
    const message = await ask(room, brief, talk.messages);
    talk.messages.push({ role: 'assistant', content: message.content });
    // oxlint-disable-next-line no-await-in-loop
    ({ work, results: talk.results } = await judge(room, brief, work, message));
    if (message.stop_reason === 'end_turn' && brief.duties.output) {
      room.output = AgentOutput.parse(JSON.parse(textOf(message)));
      const { compact_md: _short, detailed_md: _long, ...outline } = room.output;
      const finished = { ...outline, output_ref: 'output' };
      return stepPhase(state, { turn, said_ref: null, ...work, output: finished });
    }
    if (!brief.duties.output && findOpenDuties(brief, work).length === 0) {
      return stepPhase(state, { turn, said_ref: keep(room, message), ...work, output: null });
    }
  }
  throw new Error(`Left open: ${JSON.stringify(findOpenDuties(brief, work))}`);
}

async function ask(
  { client, replies }: Room,
  { phase, member, round, duties, tools }: TurnBrief,
  messages: Anthropic.MessageParam[],
): Promise<Anthropic.Message> {
  const message = await client.messages
    .stream({
      ...paramsFor(''),
      metadata: { user_id: `run/wave-001/bakery/${phase}/1` },
      messages,
      tools: tools.map((name) => ({ name, input_schema: { type: 'object' } })),
      ...(duties.output && { output_config: { format: plainFormat(AgentOutput) } }),
    })
    .finalMessage();
  const calls = message.content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : []));
  replies.push(`${phase} ${member.name} ${round}: ${calls.join(' ')}`.trim());
  return message;
}

async function judge(
  room: Room,
  brief: TurnBrief,
  before: TurnWork,
  message: Anthropic.Message,
): Promise<{ work: TurnWork; results: Anthropic.ToolResultBlockParam[] }> {
  let work = before;
  const results: Anthropic.ToolResultBlockParam[] = [];
  for (const block of message.content) {
    if (block.type !== 'tool_use') continue;
    let judged = judgeCall(
      brief,
      work,
      readStateCall(block, (text) => putText(room, text)),
    );
    if (judged.type === 'write_code') {
      // oxlint-disable-next-line no-await-in-loop
      const code = await room.client.messages.create(
        paramsFor(codePrompt(judged.order.section_id)),
      );
      judged = takeCode(brief, work, judged.order, keep(room, code));
    }
    if (judged.type !== 'answered') throw new Error('Code was ordered twice.');
    ({ work } = judged);
    const { text: content, is_error } = judged.answer;
    if (is_error) room.refused.push(content);
    results.push({ type: 'tool_result', tool_use_id: block.id, content, is_error });
  }
  return { work, results };
}

function keep(room: Room, message: Anthropic.Message): string {
  const text = textOf(message);
  room.said.push(text);
  return putText(room, text);
}

function putText({ texts }: Room, text: string): string {
  const ref = `ref-${texts.size}`;
  texts.set(ref, text);
  return ref;
}

function readText({ texts }: Room, ref: string): string {
  const text = texts.get(ref);
  if (text === undefined) throw new Error(`Nothing was stored as ${ref}.`);
  return text;
}
