import type { AskedLoop, WorkedTask } from '../../contracts/adaptation.ts';
import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type { DesignMaterial, DesignPrompt, DesignReplyOutline } from '../../contracts/design.ts';
import type { RecalledStage } from '../../contracts/design-activities.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { TurnOutline } from '../../contracts/model-turn.ts';
import type { DesignStageName } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import { engineLimits } from '../../core/limits.ts';
import { nameStage, turnSummary } from '../../core/render/labels.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import { recallStages } from '../shared/activities.ts';
import { nowMs } from '../shared/clock.ts';
import { converse, openConversation, stoppedWhenCancelled } from '../shared/conversation.ts';
import { resume } from '../shared/converse-asking.ts';
import type { Conversation, ConversationContext } from '../shared/conversation.ts';
import type { MemberBudget } from '../shared/share-budget.ts';
import { askUser, DesignEnded, takeRecalled, takeStep } from './design-context.ts';
import type { DesignContext } from './design-context.ts';
import { createDetailLoader } from '../execution/call-tools.ts';
import { callUntilDone } from '../shared/failures.ts';
import { definedOnly } from '../../core/json.ts';
import { retryOrAbandon } from '../../core/questions/answer-kinds.ts';

export interface StageRequest {
  readonly stage: DesignStageName;
  readonly agent_id: string;
  /** Technology or agent_name that the stage is about. */
  readonly subject?: string;
  readonly materials: readonly DesignMaterial[];
  /** Absent before the plan is assembled. */
  readonly plan_ref?: Ref;
  /** Absent: that of the run. */
  readonly registry_ref?: Ref;
  readonly findings?: readonly PlanFinding[];
  readonly requested_change?: string;
  /** Defined in DesignPrompt. */
  readonly change_made?: true;
  readonly worked?: readonly WorkedTask[];
  readonly loop?: AskedLoop;
  /** The user's words where they are too long for `requested_change`. */
  readonly answers?: readonly DeliveredAnswer[];
  /** Batches of questions that it may ask the user. Absent: none. */
  readonly roundsMax?: number;
  /** Returns tools besides those that read details. Absent: none. */
  readonly tools?: (
    conversation: Conversation,
    budget: MemberBudget,
  ) => Pick<ConversationContext, 'reading' | 'runTools'>;
  /** Checks the reply beyond its shape. */
  readonly check?: (reply: DesignReplyOutline) => Promise<readonly OutputFault[]>;
}

type StageEnd =
  | { readonly type: 'output'; readonly reply: DesignReplyOutline }
  | { readonly type: 'failed'; readonly reason: string };

/**
 * Asks an agent of the design until its reply is valid, and takes the reply as material. After all attempts the user
 * decides; an agent with questions gets the answers and goes on. A reply that an earlier attempt at the design got is
 * taken over and not asked for again.
 *
 * @throws DesignEnded when the design was stopped, or the user or the budget ends it.
 */
export async function askStage(
  request: StageRequest,
  context: DesignContext,
): Promise<DesignReplyOutline> {
  const { stage, subject = null, agent_id } = request;
  const recalled = await recallReply(request, context);
  if (recalled !== null) {
    await takeStep(context, { material: { stage, subject, ref: recalled.ref }, isRecalled: true });
    return recalled;
  }
  for (;;) {
    const share = context.sharing.forCalls();
    // One attempt after the other.
    // oxlint-disable-next-line no-await-in-loop
    const end = await tryStage(request, context, share);
    share.close();
    if (end.type === 'output') {
      // oxlint-disable-next-line no-await-in-loop
      await takeStep(context, { material: { stage, subject, ref: end.reply.ref } });
      return end.reply;
    }
    // oxlint-disable-next-line no-await-in-loop
    const [answer] = await askUser(
      context,
      { kind: 'planner_stuck', agent_id, release: () => context.budget.release() },
      [stuckQuestion(request, end.reason)],
    );
    if (answer?.answer !== 'retry' || answer.loop) throw new DesignEnded('abandoned');
  }
}

/** Reads the results of finished stages. */
export async function recallWork(
  materials: readonly DesignMaterial[],
  { superior }: Pick<DesignContext, 'superior'>,
): Promise<readonly RecalledStage[]> {
  if (materials.length === 0) return [];
  const { stages } = await callUntilDone(superior, recallStages, 'take over finished stages', {
    materials,
  });
  return stages;
}

/** @returns null without a reply of an earlier attempt, and for one that no longer fits. */
async function recallReply(
  { stage, subject, check }: StageRequest,
  { work }: DesignContext,
): Promise<DesignReplyOutline | null> {
  const reply = takeRecalled(work, stage, subject ?? null);
  if (reply === undefined) return null;
  const faults = (await check?.(reply)) ?? [];
  return faults.length === 0 ? reply : null;
}

async function tryStage(
  request: StageRequest,
  context: DesignContext,
  share: MemberBudget,
): Promise<StageEnd> {
  const { work } = context;
  const conversation = openConversation(promptOf(request, context), {
    ...context.place.limits,
    attempts_max: engineLimits.planAttemptsMax,
  });
  const { answers = [] } = request;
  if (answers.length > 0) {
    conversation.append = [...conversation.append, { type: 'answers', answers }];
  }
  work.talks.set(conversation, nameStage(request.stage, request.subject ?? null));
  try {
    return await talk(conversation, request, context, share);
  } finally {
    work.talks.delete(conversation);
    work.usage = addUsage(work.usage, conversation.usage);
  }
}

async function talk(
  conversation: Conversation,
  request: StageRequest,
  context: DesignContext,
  share: MemberBudget,
): Promise<StageEnd> {
  const { agent_id, roundsMax = 0 } = request;
  const rounds = { left: roundsMax };
  const conversationContext = conversationOf(request, context, { conversation, share, rounds });
  for (;;) {
    const beganAtMs = nowMs();
    const end = await stoppedWhenCancelled(() => converse(conversation, conversationContext));
    context.work.workedMs += nowMs() - beganAtMs;
    if (end.type === 'failed') return { type: 'failed', reason: end.reason };
    if (end.type === 'denied') throw new DesignEnded('finished');
    if (end.type !== 'output') throw new DesignEnded('stopped');
    const reply = replyIn(end.outline);
    if (reply === null) return { type: 'failed', reason: 'the reply has another shape.' };
    if (reply.user_questions.length === 0) return { type: 'output', reply };
    rounds.left -= 1;
    const answers = await askUser(
      context,
      { kind: 'design', agent_id, release: () => releaseShare(share, context) },
      reply.user_questions,
    );
    resume(conversation, answers);
  }
}

function conversationOf(
  request: StageRequest,
  context: DesignContext,
  {
    conversation,
    share: budget,
    rounds,
  }: {
    readonly conversation: Conversation;
    readonly share: MemberBudget;
    readonly rounds: { readonly left: number };
  },
): ConversationContext {
  const { place, control, superior } = context;
  const { stage, agent_id, subject } = request;
  const purpose = `${stage.replaceAll('_', ' ')}${subject === undefined ? '' : ` ${subject}`}`;
  return {
    run_id: place.run_id,
    registry_ref: request.registry_ref ?? place.registry_ref,
    agent_id,
    stage,
    label: (calls) => turnSummary(agent_id, purpose, calls),
    control,
    superior,
    budget,
    ...(request.tools?.(conversation, budget) ?? createDetailLoader(place, [])),
    async check(outline) {
      const reply = replyIn(outline);
      if (reply === null) return [];
      if (reply.user_questions.length > 0) return rounds.left > 0 ? [] : [tooManyQuestions];
      return (await request.check?.(reply)) ?? [];
    },
  };
}

/** Gives the rest of a share and of the whole budget back, while the user is asked. */
export function releaseShare(
  share: Pick<MemberBudget, 'release'>,
  { budget }: Pick<DesignContext, 'budget'>,
): ReturnType<DesignContext['budget']['release']> {
  const spent = share.release();
  return spent === undefined ? undefined : budget.release(spent);
}

const tooManyQuestions: OutputFault = {
  path: 'user_questions',
  reason: 'the user was asked as often as this stage may ask',
  hint: 'Try: an empty user_questions, and what is still open among the assumptions',
};

function replyIn(outline: TurnOutline): DesignReplyOutline | null {
  return outline.shape === 'design' ? outline.reply : null;
}

function promptOf(request: StageRequest, { place }: DesignContext): DesignPrompt {
  const { stage, materials } = request;
  return {
    kind: 'design',
    stage,
    record_ref: place.record_ref,
    materials,
    plan_ref: request.plan_ref ?? null,
    subject: request.subject ?? null,
    ...(request.plan_ref === undefined &&
      place.first_plan_ref !== undefined && { first_plan_ref: place.first_plan_ref }),
    findings: request.findings ?? [],
    requested_change: request.requested_change ?? null,
    ...definedOnly({
      change_made: request.change_made,
      worked: request.worked,
      loop: request.loop,
    }),
    amendments: place.amendments,
  };
}

function stuckQuestion({ stage, agent_id }: StageRequest, reason: string): AskedQuestion {
  return {
    text: `${agent_id} could not give the ${stage.replaceAll('_', ' ')} of the design: ${cutText(reason, 1_500)} What now?`,
    why_it_matters:
      'retry: it is asked again; an instruction by `amend` before may help. abandon: the run ends without a plan.',
    ...retryOrAbandon,
  };
}
