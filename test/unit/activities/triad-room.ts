import { createAnthropicClient } from '../../../activities/adapters/anthropic/anthropic-client.ts';
import { AgentOutput } from '../../../contracts/agent-output.ts';
import { ReadDelegation } from '../../../contracts/delegation.ts';
import type { StageName } from '../../../contracts/names.ts';
import type { TurnInput, TurnReply } from '../../../contracts/model-turn.ts';
import type { Ref } from '../../../contracts/ref.ts';
import type { SpecState } from '../../../contracts/spec.ts';
import { openSpec } from '../../../core/spec/read-spec.ts';
import { findOpenDuties } from '../../../core/triad/find-open-duties.ts';
import { judgeCall, openWork, takeCode } from '../../../core/triad/judge-call.ts';
import type { CodeOrder, TurnWork } from '../../../core/triad/judged-call.ts';
import type { FinishedTurn, PhaseState, TurnOrder } from '../../../core/triad/phase-state.ts';
import { resolveTriad } from '../../../core/triad/phase-state.ts';
import { listNegotiators, listPassable } from '../../../core/triad/roles.ts';
import { openPhase, stepPhase } from '../../../core/triad/step-phase.ts';
import type { RehearsalServer } from '../../../rehearsal/server/server.ts';
import { triad, triadWork } from '../../support/scripted-triad.ts';
import { createBench, plan } from './bench.ts';
import type { Bench } from './bench.ts';
import type { TriadPhase, TriadType } from '../../../contracts/triad.ts';
import type { TurnBrief } from '../../../contracts/state-call.ts';

/** Record of a triad's work. */
export interface PlayedTriad {
  /** `phase member round: tool tool …` for each reply, in their order. */
  readonly replies: readonly string[];
  /** Error results of calls. */
  readonly refused: readonly string[];
  /** Texts that were written as code. */
  readonly code: readonly string[];
  readonly specs: Readonly<Record<TriadPhase, SpecState>>;
  readonly output: AgentOutput;
}

interface Room {
  readonly bench: Bench;
  readonly setup: PhaseState['setup'];
  readonly replies: string[];
  readonly refused: string[];
  readonly code: string[];
}

/** A member's conversation in a phase. */
interface Talk {
  head: Ref | null;
  /** Results that wait for its next turn. */
  results: readonly TurnInput[];
}

const delegation_id = 'bakery';

/** Replies that a turn may take: more would be a turn that never ends. */
const repliesMax = 3;

/**
 * Has the model play all phases of a triad: real prompts by the real SDK, and the engine's own rules judge what it
 * replies. Only the workflow is missing.
 *
 * @param sections what each section is to be, by the id of section and criterion.
 */
export async function playTriad(
  { url }: Pick<RehearsalServer, 'url'>,
  type: TriadType,
  sections: Readonly<Record<string, string>>,
  task_description = 'Plan the bakery.',
): Promise<PlayedTriad> {
  const members = triad(type).members.map((member) => ({ ...member, agent_id: 'writer' }));
  const delegation = triadWork(delegation_id, type, {
    agent_id: 'writer',
    task_description,
    acceptance_criteria: Object.entries(sections).map(([criterion_id, description]) => ({
      criterion_id,
      description,
    })),
    triad: triad(type, { members }),
  });
  const bench = await createBench({
    deps: { model: createAnthropicClient({ apiKey: 'sk-test', baseUrl: url }) },
    plan: { ...plan, delegations: [ReadDelegation.parse(delegation)] },
  });
  const section_ids = Object.keys(sections);
  const setup = resolveTriad({
    ...triad(type, { members }),
    sections: section_ids.map((section_id) => ({ section_id })),
  });
  const room: Room = { bench, setup, replies: [], refused: [], code: [] };
  const open = openSpec(section_ids, listNegotiators(setup.members));
  const deliberate = await playPhase(room, 'deliberate', open, null);
  const negotiate = await playPhase(room, 'negotiate', deliberate.spec, deliberate.summary);
  const execute = await playPhase(room, 'execute', negotiate.spec, negotiate.summary);
  const text = await bench.store.getText(execute.output?.output_ref ?? '');
  const specs = { deliberate: deliberate.spec, negotiate: negotiate.spec, execute: execute.spec };
  return { ...room, specs, output: AgentOutput.parse(JSON.parse(text)) };
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
    const talk = talks.get(name) ?? { head: null, results: [] };
    talks.set(name, talk);
    // One after the other: who is faster changes nothing.
    // oxlint-disable-next-line no-await-in-loop
    const step = stepPhase(state, await takeTurn(room, order, talk));
    ({ state } = step);
    orders.push(...step.start);
  }
  expect(state.stage).toBe('ended');
  return state;
}

async function takeTurn(room: Room, { turn, brief }: TurnOrder, talk: Talk): Promise<FinishedTurn> {
  let work = openWork(brief);
  let append: readonly TurnInput[] = [...talk.results, beginTurn(room, brief, talk)];
  for (let count = 1; count <= repliesMax; count += 1) {
    // oxlint-disable-next-line no-await-in-loop
    const reply = await ask(room, brief, talk, append);
    // oxlint-disable-next-line no-await-in-loop
    ({ work, results: append } = await judge(room, brief, work, reply));
    talk.results = append;
    const said_ref = saidIn(reply);
    const output = outputIn(reply);
    const isOver = brief.duties.output ? output !== null : findOpenDuties(brief, work).length === 0;
    if (isOver) return { turn, said_ref, ...work, output };
  }
  throw new Error(`Left open: ${JSON.stringify(findOpenDuties(brief, work))}`);
}

function beginTurn({ bench }: Room, brief: TurnBrief, { head }: Talk): TurnInput {
  const { record_ref, plan_ref } = bench;
  if (head !== null) return { type: 'member_turn', plan_ref, delegation_id, brief };
  const prompt = { record_ref, plan_ref, delegation_id, upstream: [], brief };
  return { type: 'prompt', prompt: { kind: 'member', ...prompt } };
}

async function ask(
  { bench, replies }: Room,
  { phase, member, round, duties, tools, spec }: TurnBrief,
  talk: Talk,
  append: readonly TurnInput[],
): Promise<TurnReply> {
  const stage: StageName = duties.output ? 'member_output' : 'member';
  const { head } = talk;
  const turn = {
    head,
    append,
    stage,
    state_tools: tools,
    max_output_tokens: 16_000,
    ...(duties.output && { passable: listPassable(spec) }),
  };
  const result = await bench.turn(turn);
  talk.head = result.head;
  const { reply } = result;
  const calls = reply.type === 'tools' ? reply.calls.map(({ name }) => name) : [];
  replies.push(`${phase} ${member.name} ${round}: ${calls.join(' ')}`.trim());
  return reply;
}

async function judge(
  room: Room,
  brief: TurnBrief,
  before: TurnWork,
  reply: TurnReply,
): Promise<{ work: TurnWork; results: readonly TurnInput[] }> {
  if (reply.type === 'output') return { work: before, results: [] };
  if (reply.type !== 'tools') throw new Error(`No reply of a member: ${JSON.stringify(reply)}`);
  let work = before;
  const results: TurnInput[] = [];
  for (const call of reply.calls) {
    if (!('state' in call) || !call.state.ok)
      throw new Error(`Ill-formed: ${JSON.stringify(call)}`);
    let judged = judgeCall(brief, work, call.state.call);
    if (judged.type === 'write_code') {
      // oxlint-disable-next-line no-await-in-loop
      judged = takeCode(brief, work, judged.order, await writeCode(room, judged.order));
    }
    if (judged.type !== 'answered') throw new Error('Code was ordered twice.');
    ({ work } = judged);
    if (judged.answer.is_error) room.refused.push(judged.answer.text);
    results.push({ type: 'state_result', tool_use_id: call.tool_use_id, ...judged.answer });
  }
  return { work, results };
}

async function writeCode({ bench, code }: Room, order: CodeOrder): Promise<Ref> {
  const { record_ref, plan_ref } = bench;
  const prompt = { kind: 'code', record_ref, plan_ref, delegation_id, ...order } as const;
  const { reply } = await bench.turn({ stage: 'code', append: [{ type: 'prompt', prompt }] });
  if (reply.type !== 'output' || reply.outline.shape !== 'code') {
    throw new Error(`No code: ${JSON.stringify(reply)}`);
  }
  code.push(await bench.store.getText(reply.outline.code_ref));
  return reply.outline.code_ref;
}

function saidIn(reply: TurnReply): Ref | null {
  if (reply.type === 'tools') return reply.said_ref ?? null;
  const isText = reply.type === 'output' && reply.outline.shape === 'member_turn';
  return isText ? reply.outline.said_ref : null;
}

function outputIn(reply: TurnReply): FinishedTurn['output'] {
  const isOutput = reply.type === 'output' && reply.outline.shape === 'agent_output';
  return isOutput ? reply.outline.output : null;
}
