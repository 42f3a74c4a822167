import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { StateToolCall, ToolCall, TurnOutline } from '../../contracts/model-turn.ts';
import type { NotesOutline } from '../../contracts/note.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { AskedQuestion, QuestionKind } from '../../contracts/question.ts';
import type { DelegationState } from '../../contracts/views.ts';
import type { SessionState } from '../../core/notes/session.ts';
import type { VerificationFeedback } from '../../contracts/verification.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { checkOutline } from '../../core/output/check-agent-output.ts';
import { engineLimits } from '../../core/limits.ts';
import { turnSummary } from '../../core/render/labels.ts';
import { cleanLine } from '../../core/text/cut-text.ts';
import type { FailureReason } from '../../core/turns/turns-state.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import { openConversation, readOn } from '../shared/conversation.ts';
import type {
  Conversation,
  ConversationContext,
  ConversationEnd,
  ToolsDone,
} from '../shared/conversation.ts';
import { holdSession, isBegun, SessionKeeper, takeUpSession } from '../execution/session-keeper.ts';
import { callTools, readingOf } from '../execution/call-tools.ts';
import type {
  CarriedDelegation,
  DelegationEnd,
  ExecutionContext,
} from '../execution/execution-context.ts';
import { outcomeOfOutput, outcomeUnbegun, outcomeWithout } from '../execution/execution-context.ts';
import { isToolCall } from '../execution/call-acting-tool.ts';
import type { ToolContext, ToolWork } from '../execution/call-acting-tool.ts';
import { askSuperior } from '../shared/superior.ts';
import { converseAsking, outputIn, outputOf } from '../shared/converse-asking.ts';
import { recorder } from '../shared/in-span.ts';

/** Facts that grow while an agent works. */
interface Work extends ToolWork {
  readonly conversation: Conversation;
  escalations: number;
  /** Null for an agent that keeps no notes. */
  readonly session: SessionKeeper | null;
}

/**
 * Lets the agent work until its output keeps the output rule. A blocked agent's questions go to the superior; the
 * answers resume the same conversation, so the agent keeps everything it had.
 */
export async function runAgent(context: ExecutionContext): Promise<DelegationOutcome> {
  const { order } = context;
  const work = await beginUnlessStopped(context);
  if (work === null) return outcomeUnbegun(order.delegation, 'stopped', 'stopped while it worked');
  const { conversation } = work;
  const show = (state: DelegationState, waitingFor = ''): void => {
    const { delegation_id, agent_id, title } = order.delegation;
    const { calls: turn, usage } = conversation;
    context.onStatus({
      delegation_id,
      agent_id,
      title,
      state,
      turn,
      waiting_for: waitingFor,
      usage,
      executor: { kind: 'agent' },
    });
  };
  show('running');
  const end = await converseAsking(
    conversation,
    contextOf(context, work, show),
    async (questions) => {
      show('waiting', questions.map(({ text }) => text).join(' · '));
      const put = (all: readonly AskedQuestion[]): Promise<readonly DeliveredAnswer[]> =>
        ask(context, work, 'blocking', all);
      const answers = await (work.session?.ask(questions, put) ?? put(questions));
      show('running');
      return answers;
    },
  );
  if (end.type === 'carry_over' && context.carryOver !== null) {
    const { escalations, loadedDetails: loaded_details, effects } = work;
    return context.carryOver.take({
      kind: 'agent',
      version: 1,
      conversation,
      escalations,
      budget: context.budget.carry(),
      loaded_details,
      effects,
      ...(work.session !== null && { session: work.session.state }),
    });
  }
  const output = outputOf(end);
  noteFailure(order, output);
  const ended = outcomeOf(order, work, end);
  const notes = await endSession(work, ended);
  const outcome = notes === undefined ? ended : { ...ended, notes };
  show(outcome.status, outcome.reason);
  context.onEnd?.(endOf(work, end, output));
  return outcome;
}

/** @returns null when it was stopped before its first call. */
async function beginUnlessStopped(context: ExecutionContext): Promise<Work | null> {
  const { carried } = context;
  try {
    return await beginWork(context, carried?.kind === 'agent' ? carried : null);
  } catch (error) {
    if (isCancellation(error)) return null;
    throw error;
  }
}

async function beginWork(
  { order, superior, session: known, redo }: ExecutionContext,
  carried: CarriedDelegation | null,
): Promise<Work> {
  const holder = holdSession(known, carried?.session);
  if (holder.state === null && isBegun(order)) holder.state = await takeUpSession(order, superior);
  const session = order.notes === true ? new SessionKeeper(order, superior, holder) : null;
  if (carried !== null) return { ...workOf(carried), session };
  await session?.report();
  return {
    conversation: await beginConversation(order, session, redo?.feedback),
    escalations: redo?.escalations ?? 0,
    loadedDetails: [],
    effects: [...(redo?.effects ?? [])],
    session,
  };
}

function workOf(carried: CarriedDelegation): Omit<Work, 'session'> {
  const { conversation, escalations, loaded_details: loadedDetails, effects } = carried;
  return { conversation, escalations, loadedDetails, effects: [...effects] };
}

async function beginConversation(
  order: DelegationOrder,
  session: SessionKeeper | null,
  feedback: VerificationFeedback | undefined,
): Promise<Conversation> {
  const { record_ref, plan_ref, upstream, limits } = order;
  const { delegation_id } = order.delegation;
  const session_ref = session === null ? null : await session.known();
  const prompt = {
    kind: 'delegation',
    record_ref,
    plan_ref,
    delegation_id,
    upstream,
    ...(session_ref !== null && { session_ref }),
    ...(feedback !== undefined && { feedback }),
  } as const;
  return openConversation(prompt, limits);
}

/** A delegation that was stopped may go on, so its session stays as it is. */
function endSession(
  { session }: Work,
  { status }: DelegationOutcome,
): Promise<NotesOutline> | undefined {
  if (session === null) return undefined;
  return CancellationScope.nonCancellable(() => session.end(status === 'failed'));
}

function contextOf(
  context: ExecutionContext,
  work: Work,
  show: (state: DelegationState, waitingFor?: string) => void,
): ConversationContext {
  const { order, control, superior } = context;
  const { run_id, registry_ref, delegation } = order;
  const purpose = `${delegation.agent_id} · ${delegation.delegation_id}`;
  const toolContext: ToolContext = {
    order,
    control,
    superior,
    work,
    budget: context.budget,
    onSpent(usage) {
      work.conversation.usage = addUsage(work.conversation.usage, usage);
      show('running');
    },
    label: (tool) => cleanLine(`${purpose} · ${tool}`, engineLimits.labelCharsMax),
    async ask(kind, question, deadlineSeconds) {
      show('waiting', question.text);
      const [answer] = await ask(context, work, kind, [question], deadlineSeconds);
      show('running');
      return answer;
    },
  };
  return {
    run_id,
    agent_id: delegation.agent_id,
    delegation_id: delegation.delegation_id,
    registry_ref,
    recall: order.crashed,
    stage: 'delegation',
    reading: () => readingOf(order, work),
    label: (calls) => turnSummary(delegation.agent_id, delegation.delegation_id, calls),
    control,
    superior,
    budget: context.budget,
    ...(work.session !== null && { offer: { state_tools: ['completion_note'] as const } }),
    check: (outline) => checkOutput(outline, delegation.criterion_ids, work),
    runTools: (calls) => runTools(calls, work, toolContext),
    onTurn: () => show('running'),
    // Usage of a call is reported also when the next step throws.
    onReply: () => show('running'),
    carryOver: () => context.carryOver?.isDue() === true,
  };
}

function checkOutput(
  outline: TurnOutline,
  criterionIds: readonly string[],
  { effects, session }: Work,
): readonly OutputFault[] | Promise<readonly OutputFault[]> {
  const check = (notes: SessionState | null): readonly OutputFault[] =>
    checkOutline(outline, criterionIds, effects, notes);
  const output = outputIn(outline);
  return session === null || output === null ? check(null) : session.review(output, check);
}

/** Makes the calls of one reply: those of ordinary tools first, then those on the notes. */
async function runTools(
  calls: readonly (ToolCall | StateToolCall)[],
  { session }: Work,
  context: ToolContext,
): Promise<ToolsDone> {
  const ordinary = calls.filter(isToolCall);
  if (ordinary.length > 0) session?.move('revise');
  const inputs = await callTools(ordinary, context);
  if (session === null || ordinary.length === calls.length) return readOn(inputs);
  const taken = await session.take(
    calls.filter((call): call is StateToolCall => !isToolCall(call)),
  );
  const done = readOn([...inputs, ...taken.inputs]);
  const isRefused =
    ordinary.length === 0 && taken.inputs.every((input) => 'is_error' in input && input.is_error);
  return isRefused ? { ...done, verdict: { type: 'invalid', faults: taken.faults } } : done;
}

/** Puts questions to the user. Throws when the delegation is cancelled while it waits. */
function ask(
  context: ExecutionContext,
  work: Work,
  kind: QuestionKind,
  questions: readonly AskedQuestion[],
  deadlineSeconds?: number,
): Promise<readonly DeliveredAnswer[]> {
  const { order } = context;
  const { delegation_id, agent_id } = order.delegation;
  work.escalations += 1;
  const escalation_id = `${delegation_id}#${work.escalations}`;
  return askSuperior(order, context, { escalation_id, agent_id, kind, questions, deadlineSeconds });
}

/**
 * Counts a failure that the agent itself declared; those caused by the rules and the provider are counted where they
 * happen.
 */
function noteFailure({ delegation }: DelegationOrder, output: AgentOutputOutline | null): void {
  if (output?.status !== 'failed') return;
  recorder.count(metrics.failures, { agent: delegation.agent_id, reason: 'agent_failed' });
}

function endOf(
  { effects, escalations }: Work,
  end: ConversationEnd,
  output: AgentOutputOutline | null,
): DelegationEnd {
  const partial_ref = end.type === 'stopped' ? end.words_ref : null;
  return { why: whyFailed(end, output), partial_ref, effects, escalations };
}

function whyFailed(end: ConversationEnd, output: AgentOutputOutline | null): FailureReason | null {
  if (output?.status === 'failed') return 'agent_failed';
  if (end.type === 'denied') return 'budget_spent';
  return end.type === 'failed' ? end.why : null;
}

function outcomeOf(
  order: DelegationOrder,
  { conversation, loadedDetails: loaded_details, effects }: Work,
  end: ConversationEnd,
): DelegationOutcome {
  const { calls: turns, usage } = conversation;
  const output = outputOf(end);
  const work = { loaded_details, turns, usage, effects };
  if (output !== null) return outcomeOfOutput(order.delegation, work, output);
  const reason = 'reason' in end ? end.reason : 'stopped while it worked';
  const status = end.type === 'stopped' ? 'stopped' : 'failed';
  return outcomeWithout(order.delegation, work, { status, reason });
}
