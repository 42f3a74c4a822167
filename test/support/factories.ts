import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { AskedQuestion, Question } from '../../contracts/question.ts';
import type { StoredAnswer } from '../../contracts/run-record.ts';
import type { Usage } from '../../contracts/usage.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import type { WaveDecision, WavePlan } from '../../contracts/wave-plan.ts';

/** The address of an artifact that no test reads. */
export const someRef = 'a'.repeat(64);

/** The usage of so many calls: each a thousand tokens in, a hundred out, and a fifth of a cent. */
export function usageOf(calls: number): Usage {
  return {
    ...noUsage,
    calls,
    input_tokens: 1_000 * calls,
    output_tokens: 100 * calls,
    cost_micro_usd: 2_000 * calls,
  };
}

/** A question as an agent asks it: for a text, without choices and without a default. */
export function askedQuestion(over: Partial<AskedQuestion> = {}): AskedQuestion {
  return {
    text: 'Which region?',
    why_it_matters: 'Prices differ.',
    priority: 'high',
    expected_answer_format: 'text',
    choices: [],
    default_answer: null,
    ...over,
  };
}

/** A question in the inbox: asked in wave 1, no deadline, not reminded of yet. */
export function inboxQuestion(over: Partial<Question> = {}): Question {
  return {
    ...askedQuestion(),
    question_id: 'q1',
    kind: 'blocking',
    wave: 1,
    delegation_id: 'd1',
    agent_id: 'researcher',
    also_asked_by: [],
    answer_schema: null,
    deadline_seconds: null,
    remind_seconds: 604_800,
    reminded: 0,
    escalate_to: null,
    escalated_at: null,
    asked_at: 1_000,
    ...over,
  };
}

/** Creates an answered question as the record has it. */
export function storedAnswer(question: Question, answer = 'EU'): StoredAnswer {
  const { question_id, text, delegation_id } = question;
  return {
    question_id,
    text,
    delegation_id,
    answer,
    answered_by: 'user',
    source_refs: [],
    answered_at: 2,
    answer_ref: null,
    question,
  };
}

/** A delegation to a researcher that needs nothing and waits for nothing. */
export function plannedDelegation(id: string, over: Partial<Delegation> = {}): Delegation {
  return {
    delegation_id: id,
    agent_id: 'researcher',
    title: `Task ${id}`,
    task_description: `Do ${id}.`,
    acceptance_criteria: [{ criterion_id: `${id}-1`, description: `${id} is done` }],
    required_inputs: [],
    provided_inputs: [],
    depends_on: [],
    produces: [],
    executor: { kind: 'agent' },
    ...over,
  };
}

/** A plan that asks the user what it is given to ask. */
export function wavePlan(
  delegations: readonly Delegation[],
  asked: readonly AskedQuestion[] = [],
): WavePlan {
  return {
    summary: 'What the wave is for.',
    delegations: [...delegations],
    needs_user_input: asked.length > 0,
    user_questions: [...asked],
  };
}

/** The fields of a completed output beside its texts and its coverage. */
export const nothingToTell = {
  status: 'completed',
  blocking_questions: [],
  optional_questions: [],
  missing_info_requests: [],
  assumptions_made: [],
  facts: [],
  effects_claimed: [],
} as const satisfies Partial<AgentOutput>;

/** Coverage that meets the criteria, with a heading as evidence. */
export function coverageOf(
  met: readonly string[],
  evidence: (criterion_id: string) => string = (id) => `Evidence for ${id}.`,
  heading = 'Result',
): AgentOutput['coverage'] {
  return {
    criteria_met: met.map((criterion_id) => ({
      criterion_id,
      evidence: evidence(criterion_id),
      where: { kind: 'heading', value: heading },
    })),
    criteria_unmet: [],
  };
}

/** A completed output. */
export function agentOutput(over: Partial<AgentOutput> = {}): AgentOutput {
  return {
    detailed_md: '# Whole\n\nAt length.\n',
    compact_md: 'In short.',
    ...nothingToTell,
    coverage: coverageOf([]),
    ...over,
  };
}

/** The judgement that all is well. */
export const judgedOk = {
  io_status: 'OK',
  not_ok_reasons: [],
  conflicts_resolved: [],
  next_actions: [],
} as const satisfies WaveDecision['planner_decision'];

/** A decision that all is well, without an answer. */
export function waveDecision(over: Partial<WaveDecision> = {}): WaveDecision {
  return {
    wave_compact: '# Truth\n\nThe short truth.',
    wave_detailed: '# Reasons\n\nThe long reasons.',
    planner_decision: { ...judgedOk },
    answer: null,
    facts: [],
    criteria_reopened: [],
    needs_user_input: false,
    user_questions: [],
    ...over,
  };
}
