import type { StateToolCall, ToolCall, TurnInput } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { describeFault } from '../../core/text/list-names.ts';
import { memberSummary } from '../../core/render/labels.ts';
import {
  decideAfterCalls,
  findFullFault,
  findOpenDuties,
} from '../../core/triad/find-open-duties.ts';
import { judgeCall, takeCode } from '../../core/triad/judge-call.ts';
import type {
  AnsweredCall,
  CallAnswer,
  CodeOrder,
  TurnWork,
} from '../../core/triad/judged-call.ts';
import type { ToolsVerdict, FailureReason } from '../../core/turns/turns-state.ts';
import { callTools } from '../execution/call-tools.ts';
import type {
  ToolsDone,
  Conversation,
  ConversationContext,
  ConversationEnd,
} from '../shared/conversation.ts';
import type { MemberAtWork, MemberContext, UnfinishedTurn } from './member-at-work.ts';
import { isToolCall } from '../execution/call-acting-tool.ts';
import { CancelledFailure } from '@temporalio/workflow';
import type { Ref } from '../../contracts/ref.ts';
import { converse, openConversation } from '../shared/conversation.ts';
import type { TurnBrief } from '../../contracts/state-call.ts';

export interface Caller {
  readonly brief: TurnBrief;
  readonly member: MemberAtWork;
  readonly turn: UnfinishedTurn;
}

type Failed = Extract<ToolsVerdict, { readonly type: 'failed' }>;

/** The calls of one reply that have been decided so far. */
interface Answering {
  work: TurnWork;
  readonly refused: OutputFault[];
  /** The failure that ended the turn, if any. */
  failed: Failed | null;
  calls_made: number;
  /** Characters in the results of the calls. */
  told: number;
}

/**
 * Makes the calls of one reply. Ordinary tools are called by activities; those on the records of the triad are decided
 * here, in order. Their records count once all calls have been made: a reply that was cut off leaves none.
 */
export async function callMemberTools(
  calls: readonly (ToolCall | StateToolCall)[],
  caller: Caller,
  context: MemberContext,
): Promise<ToolsDone> {
  const { brief, turn } = caller;
  const results = await callOrdinary(calls.filter(isToolCall), caller, context);
  const answering: Answering = {
    work: turn.work,
    refused: [],
    failed: null,
    calls_made: 0,
    told: 0,
  };
  const inputs: TurnInput[] = [];
  for (const call of calls) {
    const { tool_use_id } = call;
    if ('state' in call) {
      const answer = await answerCall(call, answering, caller, context);
      answering.told += answer.text.length;
      inputs.push({ type: 'state_result', tool_use_id: call.tool_use_id, ...answer });
    } else {
      const result = results.get(tool_use_id);
      if (result !== undefined) inputs.push(result);
    }
  }
  turn.work = answering.work;
  const open = findOpenDuties(brief, turn.work);
  const verdict = decideAfterCalls(calls, answering.refused, open, brief.duties);
  return { inputs, verdict: answering.failed ?? verdict, calls_made: answering.calls_made };
}

/** @returns the results by tool_use_id. */
async function callOrdinary(
  calls: readonly ToolCall[],
  { brief, member }: Caller,
  context: MemberContext,
): Promise<ReadonlyMap<string, TurnInput>> {
  if (calls.length === 0) return new Map();
  const { control, superior, tools, inTurn } = context;
  const { name, agent_id } = brief.member;
  // A member acts with the grant of its own agent.
  const order = { ...context.order, delegation: { ...context.order.delegation, agent_id } };
  const inputs = await callTools(calls, {
    order,
    control,
    superior,
    work: tools,
    inTurn,
    budget: context.budget,
    onSpent(usage) {
      member.addUsage(usage);
      context.onChange();
    },
    label: (tool) => memberSummary({ member: name, phase: brief.phase, round: brief.round }, tool),
    async ask(kind, question, deadlineSeconds) {
      const [answer] = await context.ask(kind, [question], deadlineSeconds);
      return answer;
    },
  });
  return new Map(
    calls.flatMap(({ tool_use_id }, i) => {
      const input = inputs[i];
      return input === undefined ? [] : [[tool_use_id, input] as const];
    }),
  );
}

async function answerCall(
  call: StateToolCall,
  answering: Answering,
  caller: Caller,
  context: MemberContext,
): Promise<CallAnswer> {
  const { state } = call;
  if (answering.failed !== null) return refusal('Not made: the turn failed before it.');
  if (!state.ok) {
    answering.refused.push(...state.faults);
    return refusal(state.faults.map(describeFault).join('\n'));
  }
  const full = findFullFault(answering.told);
  if (full !== null) {
    answering.refused.push(full);
    return refusal(describeFault(full));
  }
  const judged = judgeCall(caller.brief, answering.work, state.call);
  return judged.type === 'answered'
    ? take(judged, call.name, answering)
    : code(judged.order, answering, caller, context);
}

function take({ work, answer }: AnsweredCall, tool: string, answering: Answering): CallAnswer {
  answering.work = work;
  if (answer.is_error) answering.refused.push({ path: tool, reason: answer.text, hint: '' });
  return answer;
}

async function code(
  order: CodeOrder,
  answering: Answering,
  { brief, member }: Caller,
  context: MemberContext,
): Promise<CallAnswer> {
  const before = member.calls();
  const written = await writeCode(order, brief, member, context);
  answering.calls_made += member.calls() - before;
  if (written.type === 'written') {
    const taken = takeCode(brief, answering.work, order, written.code_ref);
    return take(taken, 'generate_code', answering);
  }
  answering.failed = written;
  return refusal(written.reason);
}

function refusal(text: string): CallAnswer {
  return { text, current_ref: null, is_error: true };
}

type WrittenCode =
  | { readonly type: 'written'; readonly code_ref: Ref }
  | { readonly type: 'failed'; readonly why: FailureReason; readonly reason: string };

/**
 * Writes one section as code in a short conversation of its own: only the code is returned, and others judge its
 * quality (seed 001). It is finished even if its phase ends, because half of it has no value.
 *
 * @throws CancelledFailure when it was stopped.
 */
async function writeCode(
  order: CodeOrder,
  brief: TurnBrief,
  member: MemberAtWork,
  context: MemberContext,
): Promise<WrittenCode> {
  const conversation = beginConversation(order, member, context);
  const before = conversation.calls;
  member.beginCode(conversation);
  try {
    return readEnd(await converse(conversation, contextOf(brief, context)));
  } finally {
    member.endCode(conversation.calls - before);
  }
}

function beginConversation(
  order: CodeOrder,
  member: MemberAtWork,
  { order: { record_ref, plan_ref, delegation, limits } }: MemberContext,
): Conversation {
  const { delegation_id } = delegation;
  const prompt = { kind: 'code', record_ref, plan_ref, delegation_id, ...order } as const;
  return openConversation(prompt, { ...limits, turns_done: member.calls() });
}

function contextOf(brief: TurnBrief, context: MemberContext): ConversationContext {
  const { order, control, superior, budget, onChange } = context;
  const { name, agent_id, model } = brief.member;
  const place = { member: name, phase: brief.phase, round: brief.round };
  return {
    run_id: order.run_id,
    agent_id,
    registry_ref: order.registry_ref,
    stage: 'code',
    label: () => memberSummary(place, 'generate_code'),
    ...(model !== undefined && { offer: { model } }),
    control,
    superior,
    budget,
    check: () => [],
    onTurn: onChange,
    onReply: onChange,
  };
}

function readEnd(end: ConversationEnd): WrittenCode {
  switch (end.type) {
    case 'output':
      return end.outline.shape === 'code'
        ? { type: 'written', code_ref: end.outline.code_ref }
        : { type: 'failed', why: 'invalid_output', reason: 'The reply was no code.' };
    case 'failed':
      return { type: 'failed', why: end.why, reason: `generate_code: ${end.reason}` };
    case 'denied':
      return { type: 'failed', why: 'budget_spent', reason: `generate_code: ${end.reason}` };
    case 'done_by_tools':
    case 'carry_over':
    case 'stopped':
      throw new CancelledFailure('generate_code was stopped');
  }
}
