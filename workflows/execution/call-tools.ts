import type { DelegationOrder, UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { ToolCall, TurnInput } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { ReadingScope, WebReportOutline } from '../../contracts/transcript.ts';
import { countLoadsLeft, noteLoaded } from '../../core/turns/turns-state.ts';
import { callActingTool, isToolCall } from './call-acting-tool.ts';
import type { ToolContext, ToolWork } from './call-acting-tool.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import { readOn, converse, openConversation } from '../shared/conversation.ts';
import type { ConversationContext, Conversation, ConversationEnd } from '../shared/conversation.ts';
import { isCancellation, CancelledFailure, CancellationScope } from '@temporalio/workflow';
import type { EffectReport } from '../../contracts/activity-types.ts';
import type { RecordedEffect } from '../../contracts/effect.ts';
import {
  approvalQuestion,
  describeDenial,
  readApproval,
} from '../../core/effects/decide-approval.ts';
import { effectId } from '../../core/ids.ts';
import { engineLimits } from '../../core/limits.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { storeText } from '../shared/activities.ts';
import { nowSeconds } from '../shared/clock.ts';

/** Loaded details, which grow with each reply. */
type Loaded = Pick<ToolWork, 'loadedDetails'>;

/**
 * Returns what the tools of the next reply may read.
 *
 * @param atOnce Number of conversations that share `work`.
 */
export function readingOf(
  { record_ref, upstream }: Pick<DelegationOrder, 'record_ref' | 'upstream'>,
  { loadedDetails }: Loaded,
  atOnce = 1,
): ReadingScope {
  return { record_ref, upstream, loads_left: countLoadsLeft(loadedDetails, atOnce), acts: true };
}

/** Makes the calls of one reply that change something, in their order, and takes over the results of the others. */
export async function callTools(
  calls: readonly ToolCall[],
  context: ToolContext,
): Promise<readonly TurnInput[]> {
  const inputs: TurnInput[] = [];
  for (const call of calls) {
    // A later call may build on what an earlier one has changed.
    // oxlint-disable-next-line no-await-in-loop
    inputs.push(takeRead(call, context.work) ?? (await makeOutside(call, context)));
  }
  return inputs;
}

function makeOutside(call: ToolCall, context: ToolContext): Promise<TurnInput> {
  const { research } = call;
  return research === undefined
    ? callActingTool(call, context)
    : researchWeb({ ...call, research }, context);
}

/** Takes over the result of a call that was made with its reply. @returns null for one that is still to be made. */
export function takeRead({ tool_use_id, read }: ToolCall, work: Loaded): TurnInput | null {
  if (read === undefined) return null;
  work.loadedDetails = noteLoaded(work.loadedDetails, read.loaded_details);
  return toInput(tool_use_id, read);
}

/** Formats a result as the model reads it. */
function toInput(
  tool_use_id: string,
  { result_ref, is_error }: { readonly result_ref: Ref; readonly is_error: boolean },
): TurnInput {
  return { type: 'tool_result', tool_use_id, result_ref, is_error };
}

/**
 * Lets a planner that decides on a wave load details. Its tools change nothing, so they are called with its replies.
 *
 * @param upstream What the wave brought; besides them, the record's details can be loaded.
 */
export function createDetailLoader(
  { record_ref }: Pick<WaveOrder, 'record_ref'>,
  upstream: readonly UpstreamOutput[],
): Pick<ConversationContext, 'reading' | 'runTools'> {
  const work: Pick<ToolWork, 'loadedDetails'> = { loadedDetails: [] };
  return {
    reading: () => ({ ...readingOf({ record_ref, upstream }, work), acts: false }),
    runTools: async (calls) =>
      readOn(calls.filter(isToolCall).flatMap((call) => takeRead(call, work) ?? [])),
  };
}

/** Work that asks the web: a delegation, or a stage of a design. */
export interface WebCaller extends Omit<ToolContext, 'order'> {
  readonly order: Pick<
    ToolContext['order'],
    'run_id' | 'registry_ref' | 'wave' | 'limits' | 'crashed'
  > & {
    readonly delegation: Pick<
      ToolContext['order']['delegation'],
      'delegation_id' | 'agent_id' | 'rule_of_two'
    >;
  };
}

/** Call of `web_research` that may be made. */
type Research = ToolCall & Required<Pick<ToolCall, 'research'>>;

/** Call in flight. */
interface ResearchAtWork {
  readonly call: Research;
  readonly context: WebCaller;
  readonly effect_id: string;
  approval_question_id: string | null;
}

type Answer =
  | { readonly type: 'found'; readonly outline: WebReportOutline }
  | { readonly type: 'refused'; readonly state: 'failed' | 'denied'; readonly text: string };

/**
 * Asks the web in a short conversation of its own, which holds the arguments and nothing else of the run. Its calls have
 * ledger entries and count in the caller's budget like any other. The record names the call before it is made, because it
 * sends data out.
 */
export async function researchWeb(call: Research, context: WebCaller): Promise<TurnInput> {
  const { work, order } = context;
  if (work.effects.length >= engineLimits.effectsMax) {
    const why = `This delegation has made ${engineLimits.effectsMax} calls to the outside, which is the limit. Try: finish with what there is.`;
    return toResult(call, { type: 'refused', state: 'failed', text: why });
  }
  const effect_id = effectId(order.delegation.delegation_id, work.effects.length + 1);
  const at: ResearchAtWork = { call, context, effect_id, approval_question_id: null };
  const { target } = call.research;
  work.effects.push({ effect_id, target, state: 'intended' });
  try {
    await report(at, { state: 'intended', target, receipt: null, reason: '' });
    const denial = await askForApproval(at);
    const answer = denial ?? (await ask(at));
    await report(at, describeAnswer(at, answer));
    return await toResult(call, answer);
  } catch (error) {
    const how = isCancellation(error) ? 'stopped' : 'given up';
    const left = { state: 'failed', target, receipt: null, reason: `It was ${how}.` } as const;
    await CancellationScope.nonCancellable(() => report(at, left));
    throw error;
  }
}

/** @returns the refusal; null when no approval is needed, or a person gave it. */
async function askForApproval(at: ResearchAtWork): Promise<Answer | null> {
  const { call, context, effect_id } = at;
  const { target, arguments_shown, needs_approval } = call.research;
  const { delegation } = context.order;
  if (!needs_approval && delegation.rule_of_two === undefined) return null;
  const askedAt = nowSeconds();
  const shown = { effect_id, tool: call.name, arguments_ref: call.input_ref, before: '' };
  const question = approvalQuestion(delegation, {
    ...shown,
    run_id: context.order.run_id,
    target,
    arguments_shown,
    loss_shown: [],
  });
  const answer = await context.ask('approval', question, engineLimits.approvalSecondsMax);
  const approval = readApproval(shown, answer, askedAt);
  at.approval_question_id = approval?.question_id ?? null;
  if (approval !== null) return null;
  return { type: 'refused', state: 'denied', text: describeDenial(call.name, answer) };
}

async function ask({ call, context }: ResearchAtWork): Promise<Answer> {
  const { order, control, superior, budget } = context;
  const { run_id, registry_ref, delegation, limits } = order;
  const { agent_id, delegation_id } = delegation;
  const conversation = openConversation(
    { kind: 'web_research', input_ref: call.input_ref },
    limits,
  );
  const spend = createSpender(conversation, context);
  try {
    const end = await converse(conversation, {
      run_id,
      agent_id,
      delegation_id,
      registry_ref,
      recall: order.crashed,
      stage: 'web_research',
      label: () => context.label(call.name),
      alone: true,
      control,
      superior,
      budget,
      check: () => [],
      onReply: spend,
    });
    return readEnd(call.name, end);
  } finally {
    spend();
  }
}

/** Returns a function that passes on what the conversation has used since it was called last. */
function createSpender(conversation: Conversation, { onSpent }: WebCaller): () => void {
  return () => {
    const { usage } = conversation;
    conversation.usage = noUsage;
    onSpent(usage);
  };
}

/** @throws CancelledFailure when it was stopped. */
function readEnd(tool: string, end: ConversationEnd): Answer {
  switch (end.type) {
    case 'output':
      return end.outline.shape === 'web_report'
        ? { type: 'found', outline: end.outline }
        : refused(tool, 'the reply was no report');
    case 'failed':
    case 'denied':
      return refused(tool, end.reason);
    case 'done_by_tools':
    case 'carry_over':
    case 'stopped':
      throw new CancelledFailure(`${tool} was stopped`);
  }
}

function refused(tool: string, reason: string): Answer {
  const cure = 'Try: go on without it, and mark what you only remember as background knowledge.';
  return { type: 'refused', state: 'failed', text: `${tool} failed: ${reason} ${cure}` };
}

function describeAnswer({ call }: ResearchAtWork, answer: Answer): EffectReport {
  const { target } = call.research;
  if (answer.type === 'refused') {
    return { state: answer.state, target, receipt: null, reason: answer.text.slice(0, 1_000) };
  }
  const { report_ref: sha256, bytes, searches, opened } = answer.outline;
  const receipt = { target, sha256, bytes, call: true, web: { searches, opened } } as const;
  return { state: 'confirmed', target, receipt, reason: '' };
}

async function toResult({ tool_use_id }: Research, answer: Answer): Promise<TurnInput> {
  const is_error = answer.type === 'refused';
  const result_ref = is_error
    ? (await storeText({ text: answer.text })).ref
    : answer.outline.report_ref;
  return { type: 'tool_result', tool_use_id, result_ref, is_error };
}

async function report(at: ResearchAtWork, known: EffectReport): Promise<void> {
  const { call, context, effect_id, approval_question_id } = at;
  const { work, order, superior } = context;
  const { delegation_id, agent_id } = order.delegation;
  const place = work.effects.findIndex((one) => one.effect_id === effect_id);
  work.effects[place] = { effect_id, target: known.target, state: known.state };
  const effect: RecordedEffect = {
    effect_id,
    wave: order.wave,
    delegation_id,
    agent_id,
    tool: call.name,
    arguments_ref: call.input_ref,
    ...known,
    approval_question_id,
    updated_at: nowSeconds(),
  };
  await superior.report(effect);
}
