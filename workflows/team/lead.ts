import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { Passable } from '../../contracts/agent-output.ts';
import type { AskedQuestion, QuestionKind } from '../../contracts/question.ts';
import { engineLimits } from '../../core/limits.ts';
import { checkOutline } from '../../core/output/check-agent-output.ts';
import { turnSummary } from '../../core/render/labels.ts';
import { cleanLine } from '../../core/text/cut-text.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import { readingOf } from '../execution/call-tools.ts';
import type { ToolContext } from '../execution/make-call.ts';
import { askSuperior } from '../shared/ask-superior.ts';
import { converseAsking } from '../shared/converse-asking.ts';
import type { ConversationContext, ConversationEnd } from '../shared/conversation.ts';
import { callTeam } from './call-team.ts';
import { outputsOf } from './do-task.ts';
import { knownEffects, showTeam } from './team-at-work.ts';
import type { TeamAtWork } from './team-at-work.ts';

/** Lets the leader work until it has combined its members' results into one answer. */
export function lead(t: TeamAtWork): Promise<ConversationEnd> {
  return converseAsking(t.own.conversation, contextOf(t), (questions) =>
    ask(t, 'blocking', questions),
  );
}

function contextOf(t: TeamAtWork): ConversationContext {
  const { context, own } = t;
  const { order } = context;
  const { leader: agent_id, model } = t.state.setup;
  const { delegation_id } = order.delegation;
  const toolContext: ToolContext = {
    order: { ...order, delegation: { ...order.delegation, agent_id } },
    control: context.control,
    superior: own.superior,
    work: own.tools,
    budget: own.budget,
    onSpent(usage) {
      own.conversation.usage = addUsage(own.conversation.usage, usage);
      showTeam(t);
    },
    label: (tool) =>
      cleanLine(`${agent_id} · ${delegation_id} · ${tool}`, engineLimits.labelCharsMax),
    async ask(kind, question, deadlineSeconds) {
      const [answer] = await ask(t, kind, [question], deadlineSeconds);
      return answer;
    },
  };
  return {
    run_id: order.run_id,
    agent_id,
    delegation_id,
    registry_ref: order.registry_ref,
    stage: 'leader',
    reading: () => readingOf(withResults(t), own.tools),
    label: (calls) => turnSummary(agent_id, delegation_id, calls),
    offer: { ...(model !== null && { model }), state_tools: ['delegate_task_to_member'] },
    passable: () => listPassable(t),
    control: context.control,
    superior: own.superior,
    budget: own.budget,
    check: (outline) => checkOutline(outline, order.delegation.criterion_ids, knownEffects(t)),
    runTools: (calls) => callTeam(t, calls, toolContext),
    onTurn: () => showTeam(t),
    // The use of a call is shown even while a pause delays the next one.
    onReply: () => showTeam(t),
    carryOver: () => context.carryOver?.isDue() === true,
  };
}

/** Lets the leader load the results of its members in full. */
function withResults(t: TeamAtWork): DelegationOrder {
  const { order } = t.context;
  return { ...order, upstream: [...order.upstream, ...outputsOf(t)] };
}

/** Lists the results that its output may pass on, by the leader's own name and by the id in a result. */
function listPassable({ state, records }: TeamAtWork): Passable[] {
  return state.tasks.entries.flatMap(({ name, delegation_id }): Passable[] => {
    const output_ref = records.get(delegation_id)?.output_ref ?? null;
    return output_ref === null
      ? []
      : [{ type: 'result', names: [name, delegation_id], output_ref }];
  });
}

/** Puts the leader's questions to the user. Throws when the team is cancelled while it waits. */
function ask(
  { context: { order }, own, state }: TeamAtWork,
  kind: QuestionKind,
  questions: readonly AskedQuestion[],
  deadlineSeconds?: number,
): Promise<readonly DeliveredAnswer[]> {
  const { delegation_id: escalation_id } = order.delegation;
  const { leader: agent_id } = state.setup;
  return askSuperior(order, own, { escalation_id, agent_id, kind, questions, deadlineSeconds });
}
