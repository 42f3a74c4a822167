import { planExecutor } from '../../../core/executor.ts';
import type { AgentOutput } from '../../../contracts/agent-output.ts';
import type { Delegation } from '../../../contracts/delegation.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { AnsweredQuestion, AskedQuestion, Question } from '../../../contracts/question.ts';
import type { RecordChange, RecordedWave } from '../../../contracts/run-record.ts';
import type { Usage } from '../../../contracts/usage.ts';
import type { WaveDecision } from '../../../contracts/wave-decision.ts';
import type { WavePlan } from '../../../contracts/wave-plan.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import type { Harness } from './harness.ts';

export function usage(calls: number): Usage {
  return {
    ...noUsage,
    calls,
    input_tokens: 1_000 * calls,
    output_tokens: 100 * calls,
    cost_micro_usd: 2_000 * calls,
  };
}

export function delegation(id: string, over: Partial<Delegation> = {}): Delegation {
  return {
    delegation_id: id,
    agent_id: 'researcher',
    title: `Title of ${id}`,
    task_description: `Do ${id}.`,
    acceptance_criteria: [{ criterion_id: `${id}-1`, description: `${id} is done` }],
    required_inputs: ['goal'],
    provided_inputs: ['goal'],
    depends_on: [],
    produces: [],
    executor: { kind: 'agent' },
    ...over,
  };
}

export function plan(...delegations: readonly Delegation[]): WavePlan {
  return {
    summary: 'What the wave is for.',
    delegations: [...delegations],
    needs_user_input: false,
    user_questions: [],
  };
}

export function output(over: Partial<AgentOutput> = {}): AgentOutput {
  return {
    compact_md: 'In short.',
    detailed_md: '# Whole\n\nAt length.\n',
    status: 'completed',
    blocking_questions: [],
    optional_questions: [],
    missing_info_requests: [],
    assumptions_made: [],
    facts: [],
    effects_claimed: [],
    coverage: { criteria_met: [], criteria_unmet: [] },
    ...over,
  };
}

export function met(...ids: readonly string[]): AgentOutput['coverage'] {
  return {
    criteria_met: ids.map((criterion_id) => ({
      criterion_id,
      evidence: `Evidence for ${criterion_id}.`,
      where: { kind: 'heading', value: 'Result' },
    })),
    criteria_unmet: [],
  };
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

export function decision(over: Partial<WaveDecision> = {}): WaveDecision {
  return {
    wave_compact: '# Truth\n\nThe short truth.',
    wave_detailed: '# Reasons\n\nThe long reasons.',
    planner_decision: {
      io_status: 'OK',
      not_ok_reasons: [],
      conflicts_resolved: [],
      next_actions: [],
    },
    answer: null,
    facts: [],
    criteria_reopened: [],
    needs_user_input: false,
    user_questions: [],
    ...over,
  };
}

export function asked(text: string, over: Partial<AskedQuestion> = {}): AskedQuestion {
  return {
    text,
    why_it_matters: 'It changes the result.',
    priority: 'normal',
    expected_answer_format: 'text',
    choices: [],
    default_answer: null,
    ...over,
  };
}

export function question(id: string, over: Partial<Question> = {}): Question {
  return {
    ...asked(`What about ${id}?`),
    question_id: id,
    kind: 'blocking',
    wave: 1,
    delegation_id: null,
    agent_id: null,
    also_asked_by: [],
    answer_schema: null,
    deadline_seconds: null,
    remind_seconds: 604_800,
    reminded: 0,
    escalate_to: null,
    escalated_at: null,
    asked_at: 1_760_000_100,
    ...over,
  };
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
