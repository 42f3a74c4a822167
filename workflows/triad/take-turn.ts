import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { TurnInput, TurnOutline, TurnReply } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { capFaults } from '../../core/text/list-names.ts';
import { checkAgentOutput } from '../../core/output/check-agent-output.ts';
import { checkClaimedEffects } from '../../core/output/check-evidence.ts';
import { memberSummary } from '../../core/render/labels.ts';
import { findOpenDuties } from '../../core/triad/find-open-duties.ts';
import { openWork } from '../../core/triad/judge-call.ts';
import type { FinishedTurn, TurnOrder } from '../../core/triad/phase-state.ts';
import { openTurns } from '../../core/turns/step-turns.ts';
import type { TurnsState } from '../../core/turns/turns-state.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import type { Conversation, ConversationContext, ConversationEnd } from '../shared/conversation.ts';
import { readingOf } from '../execution/call-tools.ts';
import { type Caller, callMemberTools } from './call-member-tools.ts';
import type { MemberAtWork, MemberContext, UnfinishedTurn } from './member-at-work.ts';
import { converseAsking, outputIn, outputOf } from '../shared/converse-asking.ts';
import type { SpanEnd, SpanStart } from '../shared/in-span.ts';
import { agentSpan, workEnd } from '../shared/in-span.ts';
import { checkSettled, listPassable } from '../../core/triad/roles.ts';
import type { TurnBrief } from '../../contracts/state-call.ts';

export type TurnEnd =
  | { readonly type: 'finished'; readonly finished: FinishedTurn }
  | Extract<ConversationEnd, { readonly type: 'failed' | 'denied' }>
  | { readonly type: 'stopped' }
  /** Stopped before its next call, because its phase is over. */
  | { readonly type: 'halted' };

/** A running turn with its conversation. */
interface TurnAtWork extends Caller {
  readonly conversation: Conversation;
}

/**
 * Lets a member work until no duty of its turn is open. Its work stays with the member, so that a turn that was cut off
 * continues.
 */
export async function takeTurn(
  order: TurnOrder,
  member: MemberAtWork,
  context: MemberContext,
): Promise<TurnEnd> {
  const at = beginTurn(order, member, context);
  const { conversation, turn } = at;
  const end = await converseAsking(conversation, contextOf(at, context), (questions) =>
    context.ask('blocking', questions),
  );
  if (end.type === 'carry_over') return { type: 'halted' };
  if (end.type === 'stopped') return { type: 'stopped' };
  if (end.type !== 'output' && end.type !== 'done_by_tools') return end;
  member.turn = null;
  return { type: 'finished', finished: finishedTurn(turn, outputOf(end)) };
}

function finishedTurn(
  { turn, said_ref, work }: UnfinishedTurn,
  output: AgentOutputOutline | null,
): FinishedTurn {
  const { events, assignments, summary } = work;
  return { turn, said_ref, events, assignments, summary, output };
}

function beginTurn(order: TurnOrder, member: MemberAtWork, context: MemberContext): TurnAtWork {
  const { brief } = order;
  if (member.conversation !== null && member.turn?.turn === order.turn) {
    takeUp(member.conversation, member.turn, brief, context);
    return { brief, member, conversation: member.conversation, turn: member.turn };
  }
  const turns = freshTurns(member.calls(), context);
  const conversation = (member.conversation ??= {
    head: null,
    append: [],
    news_id: 0,
    answered: [],
    turns,
    calls: member.calls(),
    usage: noUsage,
  });
  // The results of the turn before wait there: the provider wants one for each call.
  conversation.append = [...conversation.append, briefing(brief, conversation, context)];
  conversation.turns = turns;
  const turn = {
    turn: order.turn,
    work: openWork(brief),
    said_ref: null,
    is_answered: false,
  };
  member.turn = turn;
  return { brief, member, conversation, turn };
}

/** Resumes a turn that failed or was cut off, with the attempts of a new one. */
function takeUp(
  conversation: Conversation,
  turn: UnfinishedTurn,
  brief: TurnBrief,
  context: MemberContext,
): void {
  const { type } = conversation.turns;
  // Any other turn was stopped before a call, which is made next.
  if (type !== 'failed' && type !== 'stopped') return;
  conversation.turns = freshTurns(conversation.calls, context);
  if (conversation.append.length > 0 || !turn.is_answered) return;
  // After a reply the model has to be told something before it can be called again.
  conversation.append = [briefing(brief, conversation, context)];
}

/** `max_turns` holds for each member over the whole delegation. */
function freshTurns(calls: number, { order }: MemberContext): TurnsState {
  const { max_turns, max_output_tokens } = order.limits;
  return openTurns({ max_turns, max_output_tokens, turns_done: calls });
}

function briefing(brief: TurnBrief, { head }: Conversation, { order }: MemberContext): TurnInput {
  const { record_ref, plan_ref, upstream } = order;
  const { delegation_id } = order.delegation;
  if (head !== null) return { type: 'member_turn', plan_ref, delegation_id, brief };
  const prompt = { kind: 'member', record_ref, plan_ref, delegation_id, upstream, brief } as const;
  return { type: 'prompt', prompt };
}

function contextOf(at: TurnAtWork, context: MemberContext): ConversationContext {
  const { brief, turn } = at;
  const { order, control, superior, budget, tools } = context;
  const { name, agent_id, model } = brief.member;
  const place = { member: name, phase: brief.phase, round: brief.round };
  return {
    run_id: order.run_id,
    agent_id,
    delegation_id: order.delegation.delegation_id,
    registry_ref: order.registry_ref,
    stage: brief.duties.output ? 'member_output' : 'member',
    reading: () => ({
      ...readingOf(order, tools, membersOf(order)),
      // A triad that judges an output changes nothing.
      ...(order.delegation.judges !== undefined && { acts: false }),
    }),
    label: () => memberSummary(place),
    ...(brief.duties.output && { passable: () => listPassable(turn.work.spec) }),
    offer: { ...(model !== undefined && { model }), state_tools: brief.tools },
    control,
    superior,
    budget,
    check: (outline) => checkReply(at, outline, context),
    runTools: (calls) => callMemberTools(calls, at, context),
    onTurn: context.onChange,
    onReply(reply) {
      turn.is_answered = isKept(reply);
      turn.said_ref = saidIn(reply) ?? turn.said_ref;
      // For what the call has used.
      context.onChange();
    },
    carryOver: context.isHalted,
  };
}

/** Counts the members, which may work at the same time. */
function membersOf({ delegation: { executor } }: DelegationOrder): number {
  return executor.kind === 'triad' ? executor.members.length : 1;
}

/** Returns true when the reply is in the conversation: see TurnReply. */
function isKept({ type }: TurnReply): boolean {
  return type === 'output' || type === 'malformed' || type === 'tools' || type === 'paused';
}

function saidIn(reply: TurnReply): string | null {
  if (reply.type === 'tools') return reply.said_ref ?? null;
  const isSaid = reply.type === 'output' && reply.outline.shape === 'member_turn';
  return isSaid && reply.outline.shape === 'member_turn' ? reply.outline.said_ref : null;
}

function checkReply(
  { brief, turn }: TurnAtWork,
  outline: TurnOutline,
  { order, tools }: MemberContext,
): OutputFault[] {
  const { executor } = order.delegation;
  const open = findOpenDuties(brief, turn.work);
  const output = outputIn(outline);
  // A member with questions may owe the rest until the answers arrive.
  if (output === null) return open;
  return capFaults([
    ...(output.status === 'completed' ? open : []),
    ...checkSettled(output, turn.work.spec, {
      sections: executor.kind === 'triad' ? executor.sections : [],
      criterion_ids: order.delegation.criterion_ids,
    }),
    ...checkClaimedEffects(output, tools.effects),
    ...checkAgentOutput(output, order.delegation.criterion_ids),
  ]);
}

export function turnSpan({ member, round }: TurnBrief): SpanStart {
  return agentSpan(member.agent_id, {
    'planwave.member': member.name,
    'planwave.role': member.role,
    'planwave.round': round,
  });
}

export function turnSpanEnd(end: TurnEnd): SpanEnd {
  switch (end.type) {
    case 'finished':
      return workEnd('completed', null);
    case 'failed':
      return workEnd('failed', end.why);
    case 'denied':
      return workEnd('failed', 'budget_spent');
    case 'stopped':
    case 'halted':
      return workEnd('stopped', null);
  }
}
