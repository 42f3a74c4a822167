import type { Question } from '../../../../contracts/question.ts';
import type { Usage } from '../../../../contracts/usage.ts';
import type { DelegationView, QuestionWait, StatusView } from '../../../../contracts/views.ts';
import type { RunListing } from '../../../../client/run-listing.ts';
import type {
  DelegationSnapshot,
  RunSnapshot,
  WaveSnapshot,
} from '../../../../client/cli/follow/read-snapshot.ts';

export const noUsage: Usage = {
  calls: 0,
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
  cost_micro_usd: 0,
  unpriced_calls: 0,
};

export function question(fields: Partial<Question & QuestionWait> = {}): Question & QuestionWait {
  return {
    question_id: 'q1',
    kind: 'blocking',
    wave: 1,
    delegation_id: 'gather-facts',
    agent_id: 'researcher',
    also_asked_by: [],
    text: 'Which region?',
    why_it_matters: 'Prices differ.',
    priority: 'high',
    expected_answer_format: 'text',
    choices: [],
    default_answer: null,
    answer_schema: null,
    deadline_seconds: null,
    remind_seconds: 604_800,
    reminded: 0,
    escalate_to: null,
    escalated_at: null,
    asked_at: 1_700_000_000,
    waiting: ['gather-facts'],
    blocked: [],
    ...fields,
  };
}

export function listing(fields: Partial<RunListing> = {}): RunListing {
  return {
    run_id: 'run-1',
    goal: 'Compare three databases',
    execution: 'running',
    phase: 'working',
    wave: 1,
    open_questions: 0,
    cost_usd: 0,
    waiting_for: [],
    started_at: 1_700_000_000,
    closed_at: null,
    version: null,
    ...fields,
  };
}

export function status(fields: Partial<StatusView> = {}): StatusView {
  return {
    run_id: 'run-1',
    goal: 'Compare three databases',
    phase: 'working',
    wave: 1,
    waves_allowed: 5,
    waiting_for: [],
    open_questions: 0,
    usage: noUsage,
    paused_reason: null,
    parked_reason: null,
    wave_workflow_id: 'run-1/wave-001',
    result_path: null,
    ...fields,
  };
}

export function delegationView(fields: Partial<DelegationView> = {}): DelegationView {
  return {
    delegation_id: 'gather-facts',
    agent_id: 'researcher',
    title: 'Gather the facts',
    depends_on: [],
    state: 'running',
    reason: '',
    workflow_id: 'run-1/wave-001/gather-facts',
    ...fields,
  };
}

export function delegation(fields: Partial<DelegationSnapshot> = {}): DelegationSnapshot {
  const nothing = { usage: null, triad_phase: null, team_view: null, activity: null };
  return { ...delegationView(), ...nothing, ...fields };
}

export function wave(fields: Partial<WaveSnapshot> = {}): WaveSnapshot {
  return { wave: 1, phase: 'dispatching', delegations: [], usage: noUsage, at_work: [], ...fields };
}

export function snapshot(fields: Partial<RunSnapshot> = {}): RunSnapshot {
  return {
    run: listing(),
    status: status(),
    note: null,
    done: [],
    plan_summary: null,
    wave: null,
    questions: [],
    ...fields,
  };
}
