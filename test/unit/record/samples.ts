import { planExecutor } from '../../../core/executor.ts';
import type { AgentOutput } from '../../../contracts/agent-output.ts';
import type { Delegation } from '../../../contracts/delegation.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { AnsweredQuestion, AskedQuestion, Question } from '../../../contracts/question.ts';
import type { RecordChange, RecordedWave } from '../../../contracts/run-record.ts';
import {
  askedQuestion,
  coverageOf,
  inboxQuestion,
  plannedDelegation,
  usageOf as usage,
  wavePlan,
} from '../../support/factories.ts';
import type { Harness } from './harness.ts';
import type { WavePlan } from '../../../contracts/wave-plan.ts';

export {
  agentOutput as output,
  usageOf as usage,
  waveDecision as decision,
} from '../../support/factories.ts';

export function delegation(id: string, over: Partial<Delegation> = {}): Delegation {
  const inputs = { required_inputs: ['goal'], provided_inputs: ['goal'] };
  return plannedDelegation(id, { title: `Title of ${id}`, ...inputs, ...over });
}

export function plan(...delegations: readonly Delegation[]): WavePlan {
  return wavePlan(delegations);
}

export function met(...ids: readonly string[]): AgentOutput['coverage'] {
  return coverageOf(ids);
}

export function unmet(...ids: readonly string[]): AgentOutput['coverage'] {
  return {
    criteria_met: [],
    criteria_unmet: ids.map((criterion_id) => ({
      criterion_id,
      reason: `No way to ${criterion_id}.`,
    })),
  };
}

export function asked(text: string, over: Partial<AskedQuestion> = {}): AskedQuestion {
  const usual = { why_it_matters: 'It changes the result.', priority: 'normal' } as const;
  return askedQuestion({ text, ...usual, ...over });
}

export function question(id: string, over: Partial<Question> = {}): Question {
  return inboxQuestion({
    ...asked(`What about ${id}?`),
    question_id: id,
    delegation_id: null,
    agent_id: null,
    asked_at: 1_760_000_100,
    ...over,
  });
}

export function answered(id: string, over: Partial<AnsweredQuestion> = {}): AnsweredQuestion {
  return {
    question_id: id,
    text: `What about ${id}?`,
    delegation_id: null,
    answer: 'This.',
    answered_by: 'user',
    source_refs: [],
    answered_at: 1_760_000_200,
    ...over,
  };
}

/** The outcome of a delegation that gave `out`, stored. */
export async function outcome(
  harness: Harness,
  from: Delegation,
  out: AgentOutput | null,
  over: Partial<DelegationOutcome> = {},
): Promise<DelegationOutcome> {
  return {
    delegation_id: from.delegation_id,
    agent_id: from.agent_id,
    title: from.title,
    status: 'completed',
    reason: '',
    criteria_met: out?.coverage.criteria_met.map((one) => one.criterion_id) ?? [],
    criteria_unmet:
      out?.coverage.criteria_unmet.map((one) => one.criterion_id) ??
      from.acceptance_criteria.map((one) => one.criterion_id),
    produces: from.produces,
    output_ref: out === null ? null : await harness.put(out),
    loaded_details: [],
    turns: 1,
    usage: usage(1),
    executor: { kind: 'agent' },
    ...over,
  };
}

export function wavePlanned(
  at: number,
  planRef: string,
  { delegations, summary }: WavePlan,
): RecordChange {
  return {
    type: 'wave_planned',
    progress: {
      wave: at,
      plan_ref: planRef,
      summary,
      delegations: delegations.map(({ delegation_id, agent_id, title, depends_on, executor }) => ({
        delegation_id,
        agent_id,
        title,
        depends_on,
        executor: planExecutor(executor),
      })),
      criterion_ids: [
        ...new Set(delegations.flatMap((d) => d.acceptance_criteria.map((c) => c.criterion_id))),
      ],
      usage: usage(1),
    },
  };
}

export function wave(at: number, over: Partial<RecordedWave>): RecordedWave {
  return {
    wave: at,
    status: 'decided',
    plan_ref: null,
    record_ref: null,
    outcomes: [],
    decision_ref: null,
    usage: usage(3),
    ...over,
  };
}
