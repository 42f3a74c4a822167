import { workflowInfo } from '@temporalio/workflow';
import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { TaskRecord } from '../../contracts/team-run.ts';
import type { AskedQuestion, QuestionKind } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { DelegationState, DelegationStatusView } from '../../contracts/views.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { checkOutline } from '../../core/output/check-outline.ts';
import type { KnownEffect } from '../../core/output/check-claimed-effects.ts';
import type { Purse } from '../../core/budget/purse.ts';
import { engineLimits } from '../../core/limits.ts';
import { turnSummary } from '../../core/render/labels.ts';
import { cleanLine } from '../../core/text/cut-text.ts';
import type { TeamState } from '../../core/team/team-state.ts';
import type { FailureReason } from '../../core/turns/failure-reasons.ts';
import { askSuperior } from '../shared/ask-superior.ts';
import { converseAsking, outputOf } from '../shared/converse-asking.ts';
import { openConversation, readOn } from '../shared/conversation.ts';
import type { Conversation, ConversationDesk, ConversationEnd } from '../shared/conversation.ts';
import type { Control } from '../shared/control.ts';
import type { EscalationRouter } from '../shared/escalation-router.ts';
import { recorder } from '../shared/recorder.ts';
import type { Funds } from '../shared/funds.ts';
import type { SharedFunds } from '../shared/share-funds.ts';
import type { Superior } from '../shared/superior.ts';
import { callTools } from './call-tools.ts';
import { outcomeOfOutput, outcomeWithout } from './build-outcome.ts';
import { isToolCall } from './make-call.ts';
import type { ToolDesk, ToolWork } from './make-call.ts';

/** What a delegation takes with it over continue-as-new, at a turn boundary. */
export interface CarriedDelegation {
  readonly version: 1;
  readonly conversation: Conversation;
  /** Escalations so far; they number the next. */
  readonly escalations: number;
  /** Null without a budget. */
  readonly purse: Purse | null;
  /** As in DelegationOutcome. */
  readonly loaded_details: readonly string[];
  /** What it has tried to change outside. */
  readonly effects: readonly KnownEffect[];
}

/** What a team takes with it over continue-as-new, before a call of its leader: nobody else is at work then. */
export interface CarriedTeam {
  readonly version: 1;
  readonly state: TeamState;
  /** With the message as middlewares left it. */
  readonly record_ref: Ref;
  readonly plan_ref: Ref;
  readonly message_ref: Ref;
  readonly conversation: Conversation;
  /** Of tasks that are over. */
  readonly records: readonly TaskRecord[];
  readonly worked_ms: number;
  readonly notes: readonly string[];
  readonly escalations: number;
  readonly purse: Purse | null;
  /** Of the whole team. */
  readonly loaded_details: readonly string[];
  readonly effects: readonly KnownEffect[];
}

/** What a delegation continues itself with, whoever does it. */
export type CarriedWork = CarriedDelegation | CarriedTeam;

/** What grows while a delegation works. */
interface Work extends ToolWork {
  readonly conversation: Conversation;
  escalations: number;
}

/** How a delegation ended, for whoever gave it out in the same workflow. */
export interface DelegationEnd {
  /** For rules; null unless it failed. */
  readonly why: FailureReason | null;
  /** What had arrived of a reply when it was cancelled; null when nothing had. */
  readonly partial_ref: Ref | null;
}

/** Tasks of a team and of all teams in it: they share one history. */
export interface TaskCount {
  given: number;
}

export interface DelegationDesk {
  /** Workflow id below which its phases get theirs. */
  readonly place: string;
  readonly escalations: EscalationRouter;
  readonly control: Control;
  readonly superior: Superior;
  readonly funds: Funds;
  /** Called when something that people see has changed. */
  readonly onStatus: (status: DelegationStatusView) => void;
  /** Continues as new. If null, the delegation stays one run however long it gets. */
  readonly carryOver: ((rest: CarriedWork) => Promise<never>) | null;
  /** What the members of a team spend from, for the teams in it. */
  readonly sharedFunds?: SharedFunds;
  /** Tasks that teams have given out in this workflow, for the teams in them. */
  readonly taskCount?: TaskCount;
  /** Called once, before the outcome is returned. */
  readonly onEnd?: (end: DelegationEnd) => void;
}

/**
 * Lets the agent work until its output keeps the output rule. A blocked agent's questions go to the superior; the
 * answers resume the same conversation, so it has all that it had.
 */
export async function runDelegation(
  order: DelegationOrder,
  desk: DelegationDesk,
  carried: CarriedDelegation | null,
): Promise<DelegationOutcome> {
  const work = beginWork(order, carried);
  const { conversation } = work;
  const show = (state: DelegationState, waitingFor = ''): void => {
    const { delegation_id, agent_id, title } = order.delegation;
    const { calls: turn, usage } = conversation;
    desk.onStatus({ delegation_id, agent_id, title, state, turn, waiting_for: waitingFor, usage });
  };
  show('running');
  const end = await converseAsking(
    conversation,
    deskOf(order, desk, work, show),
    async (questions) => {
      show('waiting', questions.map(({ text }) => text).join(' · '));
      const answers = await ask(order, desk, work, 'blocking', questions);
      show('running');
      return answers;
    },
  );
  if (end.type === 'carry_over' && desk.carryOver !== null) {
    const { escalations, loadedDetails: loaded_details, effects } = work;
    const purse = desk.funds.carry();
    return desk.carryOver({
      version: 1,
      conversation,
      escalations,
      purse,
      loaded_details,
      effects,
    });
  }
  const output = outputOf(end);
  noteFailure(order, output);
  const outcome = outcomeOf(order, work, end);
  show(outcome.status, outcome.reason);
  desk.onEnd?.(endOf(end, output));
  return outcome;
}

function beginWork(order: DelegationOrder, carried: CarriedDelegation | null): Work {
  return {
    conversation: carried?.conversation ?? beginConversation(order),
    escalations: carried?.escalations ?? 0,
    loadedDetails: carried?.loaded_details ?? [],
    loading: 0,
    effects: [...(carried?.effects ?? [])],
  };
}

function beginConversation(order: DelegationOrder): Conversation {
  const { record_ref, plan_ref, upstream, limits } = order;
  const { delegation_id } = order.delegation;
  const prompt = { kind: 'delegation', record_ref, plan_ref, delegation_id, upstream } as const;
  return openConversation(prompt, limits);
}

function deskOf(
  order: DelegationOrder,
  desk: DelegationDesk,
  work: Work,
  show: (state: DelegationState, waitingFor?: string) => void,
): ConversationDesk {
  const { run_id, registry_ref, delegation } = order;
  const { control, superior } = desk;
  const purpose = `${delegation.agent_id} · ${delegation.delegation_id}`;
  const toolDesk: ToolDesk = {
    order,
    control,
    superior,
    work,
    label: (tool) => cleanLine(`${purpose} · ${tool}`, engineLimits.labelCharsMax),
    async ask(kind, question, deadlineSeconds) {
      show('waiting', question.text);
      const [answer] = await ask(order, desk, work, kind, [question], deadlineSeconds);
      show('running');
      return answer;
    },
  };
  return {
    run_id,
    agent_id: delegation.agent_id,
    delegation_id: delegation.delegation_id,
    registry_ref,
    shape: 'agent_output',
    label: (calls) => turnSummary(delegation.agent_id, delegation.delegation_id, calls),
    control,
    superior,
    funds: desk.funds,
    check: (outline) => checkOutline(outline, delegation.criterion_ids, work.effects),
    runTools: async (calls) => readOn(await callTools(calls.filter(isToolCall), toolDesk)),
    onTurn: () => show('running'),
    // What a call used is told also when the next step throws.
    onReply: () => show('running'),
    carryOver: () => desk.carryOver !== null && workflowInfo().continueAsNewSuggested,
  };
}

/** Puts questions to the user. Throws when the delegation is cancelled while it waits. */
function ask(
  order: DelegationOrder,
  desk: DelegationDesk,
  work: Work,
  kind: QuestionKind,
  questions: readonly AskedQuestion[],
  deadlineSeconds?: number,
): Promise<readonly DeliveredAnswer[]> {
  const { delegation_id, agent_id } = order.delegation;
  work.escalations += 1;
  const escalation_id = `${delegation_id}#${work.escalations}`;
  return askSuperior(order, desk, { escalation_id, agent_id, kind, questions, deadlineSeconds });
}

/** The agent's own word; what the rules and the provider refused is counted where it happened. */
function noteFailure({ delegation }: DelegationOrder, output: AgentOutputOutline | null): void {
  if (output?.status !== 'failed') return;
  recorder.count(metrics.failures, { agent: delegation.agent_id, reason: 'agent_failed' });
}

function endOf(end: ConversationEnd, output: AgentOutputOutline | null): DelegationEnd {
  const partial_ref = end.type === 'stopped' ? end.words_ref : null;
  return { why: whyFailed(end, output), partial_ref };
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
  return outcomeWithout(order.delegation, work, {
    status: end.type === 'stopped' ? 'stopped' : 'failed',
    reason,
  });
}
