import { CancelledFailure } from '@temporalio/workflow';
import type { TurnBrief } from '../../contracts/member-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import { memberSummary } from '../../core/render/labels.ts';
import type { CodeOrder } from '../../core/triad/judged-call.ts';
import type { FailureReason } from '../../core/turns/turns-state.ts';
import { converse, openConversation } from '../shared/conversation.ts';
import type { Conversation, ConversationContext, ConversationEnd } from '../shared/conversation.ts';
import type { MemberAtWork, MemberContext } from './member-at-work.ts';

export type WrittenCode =
  | { readonly type: 'written'; readonly code_ref: Ref }
  | { readonly type: 'failed'; readonly why: FailureReason; readonly reason: string };

/**
 * Writes one section as code in a short conversation of its own: only the code is returned, and others judge its
 * quality (seed 001). It is finished even if its phase ends, because half of it has no value.
 *
 * @throws CancelledFailure when it was stopped.
 */
export async function writeCode(
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
  { order: { plan_ref, delegation, limits } }: MemberContext,
): Conversation {
  const { delegation_id } = delegation;
  const prompt = { kind: 'code', plan_ref, delegation_id, ...order } as const;
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
