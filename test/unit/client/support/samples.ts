import type { AnsweredQuestion, Question } from '../../../../contracts/question.ts';
import type { DelegationView, QuestionWait, StatusView } from '../../../../contracts/views.ts';
import type { RunListing } from '../../../../client/run-listing.ts';
import type {
  DelegationSnapshot,
  RunSnapshot,
  WaveSnapshot,
} from '../../../../client/cli/follow/read-snapshot.ts';

import { noUsage } from '../../../../core/usage/add-usage.ts';
import { inboxQuestion } from '../../../support/factories.ts';

export { noUsage };

export function question(fields: Partial<Question & QuestionWait> = {}): Question & QuestionWait {
  const asked = inboxQuestion({ delegation_id: 'gather-facts', asked_at: 1_700_000_000 });
  return { ...asked, waiting: ['gather-facts'], blocked: [], ...fields };
}

/** The user's answer to `question()`. */
export function answeredQuestion(): AnsweredQuestion {
  const { question_id, text, delegation_id } = question();
  const given = { answer: 'yes', answered_by: 'user', source_refs: [], answered_at: 1 };
  return { question_id, text, delegation_id, ...given };
}

export function listing(fields: Partial<RunListing> = {}): RunListing {
  return {
    run_id: 'run-1',
    workflow_type: 'plannerRun',
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
    task_queue: 'planwave',
    store: null,
    load: null,
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
    executor: { kind: 'agent' },
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
    stage_calls: [],
    questions: [],
    answered: [],
    rejected: [],
    ...fields,
  };
}
