import { workflowInfo } from '@temporalio/workflow';
import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { ToolCall, TurnInput, TurnOutline } from '../../contracts/model-turn.ts';
import type { DelegationState, DelegationStatusView } from '../../contracts/views.ts';
import { engineLimits } from '../../core/limits.ts';
import { countLoadsLeft, noteLoaded } from '../../core/turns/note-loaded.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { checkAgentOutput } from '../../core/output/check-agent-output.ts';
import type { Purse } from '../../core/budget/purse.ts';
import { cleanLine } from '../../core/text/clean-line.ts';
import { openTurns } from '../../core/turns/step-turns.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { runTool } from '../shared/activities.ts';
import { converse, step, stoppedWhenCancelled } from '../shared/conversation.ts';
import type { Conversation, ConversationDesk, ConversationEnd } from '../shared/conversation.ts';
import type { Control } from '../shared/control.ts';
import { recorder } from '../shared/recorder.ts';
import { stopWhenCancelled } from '../shared/stop-when-cancelled.ts';
import type { Funds } from '../shared/funds.ts';
import type { Superior } from '../shared/superior.ts';

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
}

/** What grows while a delegation works. */
interface Work {
  readonly conversation: Conversation;
  escalations: number;
  loadedDetails: readonly string[];
}

export interface DelegationDesk {
  readonly control: Control;
  readonly superior: Superior;
  readonly funds: Funds;
  /** Called when something that people see has changed. */
  readonly onStatus: (status: DelegationStatusView) => void;
  /** Continues as new. If null, the delegation stays one run however long it gets. */
  readonly carryOver: ((rest: CarriedDelegation) => Promise<never>) | null;
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
  const conversationDesk = deskOf(order, desk, work, () => show('running'));
  for (;;) {
    show('running');
    const end = await stoppedWhenCancelled(() => converse(conversation, conversationDesk));
    if (end.type === 'carry_over' && desk.carryOver !== null) {
      const { escalations, loadedDetails: loaded_details } = work;
      const purse = desk.funds.carry();
      return desk.carryOver({ version: 1, conversation, escalations, purse, loaded_details });
    }
    const output = outputOf(end);
    if (output?.status !== 'blocked') {
      noteFailure(order, output);
      const outcome = outcomeOf(order, work, end);
      show(outcome.status, outcome.reason);
      return outcome;
    }
    work.escalations += 1;
    show('waiting', output.blocking_questions.map((question) => question.text).join(' · '));
    const answers = await ask(order, desk, work.escalations, output);
    if (answers === null) return outcomeOf(order, work, { type: 'stopped' });
    conversation.append = [{ type: 'answers', answers }];
    step(conversation, { type: 'resumed' });
  }
}

function beginWork(order: DelegationOrder, carried: CarriedDelegation | null): Work {
  return {
    conversation: carried?.conversation ?? beginConversation(order),
    escalations: carried?.escalations ?? 0,
    loadedDetails: carried?.loaded_details ?? [],
  };
}

function beginConversation(order: DelegationOrder): Conversation {
  const { record_ref, plan_ref, upstream, limits } = order;
  const { delegation_id } = order.delegation;
  return {
    head: null,
    append: [
      {
        type: 'prompt',
        prompt: { kind: 'delegation', record_ref, plan_ref, delegation_id, upstream },
      },
    ],
    turns: openTurns({ max_turns: limits.max_turns, max_output_tokens: limits.max_output_tokens }),
    calls: 0,
    usage: noUsage,
  };
}

function deskOf(
  order: DelegationOrder,
  desk: DelegationDesk,
  work: Work,
  onTurn: () => void,
): ConversationDesk {
  const { run_id, registry_ref, delegation } = order;
  return {
    run_id,
    agent_id: delegation.agent_id,
    registry_ref,
    shape: 'agent_output',
    purpose: delegation.delegation_id,
    control: desk.control,
    superior: desk.superior,
    funds: desk.funds,
    check: (outline) =>
      outline.shape === 'agent_output'
        ? checkAgentOutput(outline.output, delegation.criterion_ids)
        : [],
    runTools: (calls) => callTools(order, work, calls),
    onTurn,
    carryOver: () => desk.carryOver !== null && workflowInfo().continueAsNewSuggested,
  };
}

async function callTools(
  order: DelegationOrder,
  work: Work,
  calls: readonly ToolCall[],
): Promise<readonly TurnInput[]> {
  const loadsLeft = countLoadsLeft(work.loadedDetails, calls.length);
  const called = await Promise.all(
    calls.map((call, at) => callTool(order, call, loadsLeft[at] ?? 0)),
  );
  work.loadedDetails = noteLoaded(
    work.loadedDetails,
    called.flatMap(({ loaded }) => loaded),
  );
  return called.map(({ input }) => input);
}

interface Called {
  readonly input: TurnInput;
  readonly loaded: readonly string[];
}

async function callTool(
  order: DelegationOrder,
  call: ToolCall,
  loads_left: number,
): Promise<Called> {
  const { run_id, registry_ref, record_ref, upstream, delegation } = order;
  const { agent_id } = delegation;
  const label = `${agent_id} · ${delegation.delegation_id} · ${call.name}`;
  const { result_ref, is_error, loaded_details } = await runTool.executeWithOptions(
    { summary: cleanLine(label, engineLimits.labelCharsMax) },
    [{ run_id, agent_id, registry_ref, call, record_ref, upstream, loads_left }],
  );
  const { tool_use_id } = call;
  return {
    input: { type: 'tool_result', tool_use_id, result_ref, is_error },
    loaded: loaded_details,
  };
}

/** @returns null when the delegation was cancelled while it waited. */
async function ask(
  order: DelegationOrder,
  { superior, funds }: DelegationDesk,
  escalations: number,
  output: AgentOutputOutline,
): Promise<readonly DeliveredAnswer[] | null> {
  const { delegation_id, agent_id } = order.delegation;
  const spent = funds.giveBack();
  return stopWhenCancelled(() =>
    superior.ask({
      type: 'questions',
      escalation_id: `${delegation_id}#${escalations}`,
      from: workflowInfo().workflowId,
      kind: 'blocking',
      wave: order.wave,
      delegation_id,
      agent_id,
      questions: output.blocking_questions,
      ...(spent !== undefined && { spent }),
    }),
  );
}

/** The agent's own word; what the rules and the provider refused is counted where it happened. */
function noteFailure({ delegation }: DelegationOrder, output: AgentOutputOutline | null): void {
  if (output?.status !== 'failed') return;
  recorder.count(metrics.failures, { agent: delegation.agent_id, reason: 'agent_failed' });
}

function outputOf(end: ConversationEnd): AgentOutputOutline | null {
  if (end.type !== 'output') return null;
  const outline: TurnOutline = end.outline;
  return outline.shape === 'agent_output' ? outline.output : null;
}

function outcomeOf(
  order: DelegationOrder,
  { conversation, loadedDetails: loaded_details }: Work,
  end: ConversationEnd,
): DelegationOutcome {
  const { delegation_id, agent_id, title, produces, criterion_ids } = order.delegation;
  const { calls: turns, usage } = conversation;
  const output = outputOf(end);
  const common = { delegation_id, agent_id, title, produces, loaded_details, turns, usage };
  if (output === null) {
    return {
      ...common,
      status: end.type === 'stopped' ? 'stopped' : 'failed',
      reason: 'reason' in end ? end.reason : 'stopped while it worked',
      criteria_met: [],
      criteria_unmet: criterion_ids,
      output_ref: null,
    };
  }
  const unmet = output.coverage.criteria_unmet;
  return {
    ...common,
    status: output.status === 'completed' ? 'completed' : 'failed',
    reason: output.status === 'completed' ? '' : (unmet[0]?.reason ?? 'the agent reported failure'),
    criteria_met: output.coverage.criteria_met.map((met) => met.criterion_id),
    criteria_unmet: unmet.map(({ criterion_id }) => criterion_id),
    output_ref: output.output_ref,
  };
}
