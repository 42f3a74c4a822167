import { workflowInfo } from '@temporalio/workflow';
import { plannerAgentId } from '../../contracts/names.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { Prompt, TurnOutline } from '../../contracts/model-turn.ts';
import type { StageName } from '../../contracts/names.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { AskedQuestion, QuestionKind } from '../../contracts/question.ts';
import { engineLimits } from '../../core/limits.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { turnSummary } from '../../core/render/labels.ts';
import { isFromUser } from '../../core/run/news.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import { converse, openConversation, step, stoppedWhenCancelled } from '../shared/conversation.ts';
import { resume } from '../shared/converse-asking.ts';
import { unheardNews } from '../shared/news-feed.ts';
import type { Conversation, ConversationContext } from '../shared/conversation.ts';
import type { Budget } from '../shared/budget.ts';
import type { WaveContext } from './wave-context.ts';
import { stopWhenCancelled } from '../shared/failures.ts';
import { retryOrAbandon } from '../../core/questions/answer-kinds.ts';

/** The wave's context with what the planner may spend. */
export type PlannerContext = WaveContext & { readonly budget: Budget };

/** A request to the planner, and the rule for its answer. */
export interface Consultation {
  readonly stage: StageName;
  /** Rendered anew for each attempt, because news of the user change it. */
  readonly prompt: () => Prompt;
  /** Description for people: `plan wave 2`. */
  readonly purpose: string;
  readonly check: ConversationContext['check'];
  /** Questions that the planner must have answered before its output is of use. */
  readonly questions: (outline: TurnOutline) => readonly AskedQuestion[];
  /** Returns true for an output after which no planning step could consider new input of the user. */
  readonly isLast: (outline: TurnOutline) => boolean;
  /** Absent where it has no tools. */
  readonly tools?: Pick<ConversationContext, 'reading' | 'runTools'>;
}

export type Consulted =
  /** `news_id`: the newest news item that the planner had for this output. */
  | { readonly type: 'output'; readonly outline: TurnOutline; readonly news_id: number }
  | { readonly type: 'stopped' }
  /** The budget does not allow another call. */
  | { readonly type: 'denied'; readonly reason: string }
  /** The user gave up after the planner's output stayed invalid. */
  | { readonly type: 'abandoned' };

/** The planner's output stayed invalid in all attempts. */
interface PlannerFailed {
  readonly type: 'failed';
  readonly reason: string;
}

/**
 * Asks the planner until its output is valid. After all attempts the user decides; a planner with questions gets the
 * answers and goes on.
 */
export async function consultPlanner(
  consultation: Consultation,
  order: WaveOrder,
  context: PlannerContext,
): Promise<Consulted> {
  for (;;) {
    const end = await tryPlanner(consultation, order, context);
    if (end.type === 'output') context.work.newsConsidered = end.news_id;
    if (end.type !== 'failed') return end;
    const answers = await askUser(order, context, 'planner_stuck', [
      stuckQuestion(consultation, end.reason),
    ]);
    if (answers === null) return { type: 'stopped' };
    const [answer] = answers;
    if (answer?.answer !== 'retry' || answer.loop) return { type: 'abandoned' };
  }
}

/** Asks the planner once, with repairs. The caller decides what follows a failure. */
export async function tryPlanner(
  consultation: Consultation,
  order: WaveOrder,
  context: PlannerContext,
): Promise<Consulted | PlannerFailed> {
  const { work } = context;
  const conversation = beginConversation(consultation, order);
  work.talks.add(conversation);
  const end = await talk(conversation, consultation, order, context);
  work.talks.delete(conversation);
  work.usage = addUsage(work.usage, conversation.usage);
  context.budget.release();
  return end;
}

function beginConversation({ prompt }: Consultation, { limits }: WaveOrder): Conversation {
  return openConversation(prompt(), { ...limits, attempts_max: engineLimits.planAttemptsMax });
}

async function talk(
  conversation: Conversation,
  consultation: Consultation,
  order: WaveOrder,
  context: PlannerContext,
): Promise<Consulted | PlannerFailed> {
  const { run_id, registry_ref } = order;
  const { stage, purpose, check, tools } = consultation;
  const { control, superior, budget } = context;
  const conversationContext = {
    run_id,
    agent_id: plannerAgentId,
    registry_ref,
    stage,
    label: (calls: number) => turnSummary(plannerAgentId, purpose, calls),
    control,
    superior,
    budget,
    check,
    ...tools,
  };
  for (;;) {
    const end = await stoppedWhenCancelled(() => converse(conversation, conversationContext));
    if (end.type === 'failed' || end.type === 'stopped' || end.type === 'denied') return end;
    if (end.type === 'carry_over' || end.type === 'done_by_tools') return { type: 'stopped' };
    const questions = consultation.questions(end.outline);
    if (questions.length > 0) {
      budget.release();
      const answers = await askUser(order, context, 'planner', questions);
      if (answers === null) return { type: 'stopped' };
      resume(conversation, answers);
    } else {
      const unheard = unheardNews(superior.news, conversation).some(isFromUser);
      if (!unheard || !consultation.isLast(end.outline)) {
        return { ...end, news_id: conversation.news_id };
      }
      step(conversation, { type: 'resumed' });
    }
  }
}

/** @returns null when the wave was cancelled while it waited. */
function askUser(
  order: WaveOrder,
  context: WaveContext,
  kind: QuestionKind,
  questions: readonly AskedQuestion[],
): Promise<readonly DeliveredAnswer[] | null> {
  context.work.escalations += 1;
  const escalation_id = `planner-${order.wave}#${context.work.escalations}`;
  return stopWhenCancelled(() =>
    context.superior.ask({
      type: 'questions',
      escalation_id,
      from: workflowInfo().workflowId,
      kind,
      wave: order.wave,
      delegation_id: null,
      agent_id: plannerAgentId,
      questions,
    }),
  );
}

function stuckQuestion({ purpose }: Consultation, reason: string): AskedQuestion {
  return {
    text: `The planner could not ${purpose}: ${cutText(reason, 1_500)} What now?`,
    why_it_matters:
      'Nothing goes on without it. An instruction by `amend` before `retry` may help the planner.',
    ...retryOrAbandon,
  };
}
