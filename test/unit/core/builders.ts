import type { AgentOutputOutline } from '../../../contracts/agent-output.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { DelegationOutline } from '../../../contracts/delegation.ts';
import type { QuestionsEscalation } from '../../../contracts/messages.ts';
import type { AskedQuestion } from '../../../contracts/question.ts';
import type { Usage } from '../../../contracts/usage.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { coverageOf, judgedOk, nothingToTell, someRef } from '../../support/factories.ts';
import { resolveQuestionRules } from '../../../core/questions/inbox-event.ts';
import type { WaveDecisionOutline, WavePlanOutline } from '../../../contracts/wave-plan.ts';
import type { CriterionState } from '../../../contracts/criterion.ts';

export { askedQuestion as asked, inboxQuestion as question } from '../../support/factories.ts';

/** Settings of every property test. A failure prints the seed and the path to the smallest example. */
export const property = { seed: 20_261_121, numRuns: 300 } as const;

export const ref = someRef;

/** A list so deep that JSON.stringify overflows the stack. */
export const deepList: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);

export function delegation(id: string, over: Partial<DelegationOutline> = {}): DelegationOutline {
  return {
    delegation_id: id,
    agent_id: 'researcher',
    title: `Task ${id}`,
    required_inputs: [],
    provided_inputs: [],
    depends_on: [],
    produces: [],
    criterion_ids: [`${id}-done`],
    fingerprint: `fp-${id}`,
    executor: { kind: 'agent' },
    ...over,
  };
}

export function outcome(id: string, over: Partial<DelegationOutcome> = {}): DelegationOutcome {
  return {
    delegation_id: id,
    agent_id: 'researcher',
    title: `Task ${id}`,
    status: 'completed',
    reason: '',
    criteria_met: [],
    criteria_unmet: [],
    produces: [],
    output_ref: ref,
    loaded_details: [],
    turns: 1,
    usage: noUsage,
    executor: { kind: 'agent' },
    ...over,
  };
}

export function plan(
  delegations: readonly DelegationOutline[],
  over: Partial<WavePlanOutline> = {},
): WavePlanOutline {
  return {
    plan_ref: ref,
    summary: 'What this wave is for',
    delegations,
    needs_user_input: false,
    user_questions: [],
    ...over,
  };
}

/** Default rules for unanswered questions. */
export const usualRules = resolveQuestionRules(undefined);

export function escalation(
  id: string,
  questions: readonly AskedQuestion[],
  over: Partial<QuestionsEscalation> = {},
): QuestionsEscalation {
  return {
    type: 'questions',
    escalation_id: id,
    from: 'run/wave-001/d1',
    kind: 'blocking',
    wave: 1,
    delegation_id: 'd1',
    agent_id: 'researcher',
    questions,
    ...over,
  };
}

export function criterion(id: string, state: CriterionState['state'] = 'open'): CriterionState {
  return { criterion_id: id, state, delegation_id: null };
}

export function output(over: Partial<AgentOutputOutline> = {}): AgentOutputOutline {
  return {
    output_ref: ref,
    ...nothingToTell,
    text_faults: [],
    coverage: coverageOf(['c1'], () => 'Section 2 lists all three prices.', 'Prices'),
    ...over,
  };
}

export function decision(
  over: Partial<WaveDecisionOutline> = {},
  judged: Partial<WaveDecisionOutline['planner_decision']> = {},
): WaveDecisionOutline {
  return {
    decision_ref: ref,
    planner_decision: { ...judgedOk, ...judged },
    has_answer: true,
    criteria_reopened: [],
    needs_user_input: false,
    user_questions: [],
    ...over,
  };
}

export function usage(over: Partial<Usage> = {}): Usage {
  return { ...noUsage, calls: 1, ...over };
}
