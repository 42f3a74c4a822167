import type { AskedLoop, UnjudgedWave } from '../../contracts/adaptation.ts';
import { workflowInfo } from '@temporalio/workflow';
import type { OpenRunResult } from '../../contracts/activity-types.ts';
import type { CarriedBudget } from '../../contracts/budget.ts';
import type { FinishedStages, PlanOutline } from '../../contracts/design-run.ts';
import type {
  CarriedRun,
  RunAnswer,
  RunTerms,
  WaveSummary,
  WorkTerms,
} from '../../contracts/planner-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { KnownSpent, Usage } from '../../contracts/usage.ts';
import type { DelegationStatusView, PlanView, RunPhase } from '../../contracts/views.ts';
import { openBudget } from '../../core/budget/resolve-budget.ts';
import { spendingOf } from '../../core/budget/spending.ts';
import { applyPlan, waiveCriteria } from '../../core/criteria/criteria.ts';
import { unknownCriteria } from '../../core/run/check-control.ts';
import { formatUnreported } from '../../core/text/format.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import { nowSeconds } from './clock.ts';
import type { RecordStart } from './record-keeper.ts';
import { describeAgainst } from '../../core/budget/account-terms.ts';
import { resolveQuestionRules } from '../../core/questions/inbox-event.ts';
import type { ModeChoice } from '../../contracts/limits.ts';
import type { CriterionState } from '../../contracts/criterion.ts';
import { definedOnly } from '../../core/json.ts';

/** State of the root workflow. Changed by the workflow, read by queries and views. */
export interface RootState {
  goal_title: string;
  started_at: number;
  opened: OpenRunResult | null;
  /** Number of finished waves. */
  wave: number;
  /** The newest wave that began; 0 before the first. */
  wave_at_work: number;
  waves_allowed: number;
  wave_workflow_id: string | null;
  /** Number of signals that this execution has taken. */
  signals: number;
  /** Usage that the wave at work has reported. */
  wave_usage: Usage;
  plan: PlanView | null;
  /** State of a delegation, a triad or a phase that was started by hand. */
  work: DelegationStatusView | null;
  waves: readonly WaveSummary[];
  criteria: readonly CriterionState[];
  usage: Usage;
  /** Null when nothing is limited. */
  budget: CarriedBudget | null;
  amendments: readonly string[];
  /** Defined in CarriedRun. */
  news: CarriedRun['news'];
  /** Criteria that the user waived during the run. */
  waived: readonly string[];
  /** Null where the input gives the mode, and before it is chosen. */
  mode: ModeChoice | null;
  /** Plan of the wave that called for a design. */
  first_plan_ref: Ref | null;
  /** The design that the run makes, as far as it was reported; null before and without one. */
  design: DesignState | null;
  /** Returns the use of the judgement at work that `usage` does not have yet; null when none is at work. */
  judging: (() => Usage) | null;
  /** Stages of a design that this workflow asks for itself, by their conversations. */
  stages: ReadonlyMap<object, string>;
  /** The plan of a design that the run carries out; null before its approval, and without one. */
  plan_approved: PlanOutline | null;
  /** Questions that came again and again in the wave at work. */
  loops: AskedLoop[];
  /** delegation_ids of a designed run that crashed and are wanted again. */
  again: readonly string[];
  /** Null when the last wave was judged. */
  unjudged: UnjudgedWave | null;
  stop_reason: string | null;
  /**
   * True while the changes are brought in or the result is written, and where a part that was started alone asks about them:
   * nothing that the user says then is planned for.
   */
  closing: boolean;
  /** Set at the end; before, the phase follows from the other fields. */
  phase: RunPhase | null;
  /** Result of the run, set at its end. */
  result: RunAnswer | null;
}

/** Design of a run, over all its attempts. */
export interface DesignState extends FinishedStages {
  /** Use of the attempt at work; nothing after its end. */
  readonly usage: Usage;
  /** Use of attempts that were lost. */
  readonly lost: Usage;
}

export function openDesign(): DesignState {
  return { materials: [], plan_refs: [], usage: noUsage, lost: noUsage };
}

export function openRootState(carried: CarriedRun | null): RootState {
  const fresh: RootState = {
    goal_title: '',
    started_at: nowSeconds(),
    opened: null,
    wave: 0,
    wave_at_work: 0,
    waves_allowed: 0,
    wave_workflow_id: null,
    signals: 0,
    wave_usage: noUsage,
    plan: null,
    work: null,
    waves: [],
    criteria: [],
    usage: noUsage,
    budget: null,
    amendments: [],
    news: { last: 0, from_user: 0, considered: 0 },
    waived: [],
    mode: null,
    first_plan_ref: null,
    design: null,
    judging: null,
    stages: new Map(),
    plan_approved: null,
    loops: [],
    again: [],
    unjudged: null,
    stop_reason: null,
    closing: false,
    phase: null,
    result: null,
  };
  if (carried === null) return fresh;
  const { goal_title, started_at, wave, waves_allowed, criteria, usage, amendments } = carried;
  return {
    ...fresh,
    goal_title,
    started_at,
    opened: {
      ...carried,
      budget: carried.budget?.limits ?? null,
      plan: null,
      ...(carried.design_request !== undefined && { design: carried.design_request }),
    },
    mode: carried.mode_chosen ?? null,
    first_plan_ref: carried.first_plan_ref ?? null,
    plan_approved: carried.plan_approved ?? null,
    design: carried.design_at_work ? { ...openDesign(), ...carried.design_at_work } : null,
    again: carried.again ?? [],
    unjudged: carried.unjudged ?? null,
    wave,
    wave_at_work: wave,
    waves_allowed,
    waves: carried.wave_outlines,
    criteria,
    usage,
    budget: carried.budget,
    amendments,
    news: carried.news,
    waived: carried.waived,
  };
}

/** Returns the settings that a run gives to each of its waves. */
export function workTerms(terms: WorkTerms): WorkTerms {
  const { registry_ref, agents, limits, use_defaults, notes, autonomy } = terms;
  const { verify, verify_triad, changes, triads, teams, models } = terms;
  return {
    registry_ref,
    agents,
    limits,
    use_defaults,
    ...(notes === true && { notes }),
    autonomy,
    ...definedOnly({ verify, verify_triad, changes }),
    triads,
    teams,
    models,
  };
}

/** Returns the settings that a run has to its end. */
export function runTerms(terms: RunTerms): RunTerms {
  const { goal_title, store, load, unattended, notify, questions, approvers } = terms;
  return {
    ...workTerms(terms),
    goal_title,
    store,
    ...definedOnly({ load }),
    ...(unattended === true && { unattended }),
    ...(notify === true && { notify }),
    questions,
    approvers,
  };
}

/** Rules of the run for questions. */
export type AskingRules = Pick<RunTerms, 'use_defaults' | 'autonomy' | 'questions' | 'approvers'>;

/** Returns the rules. Before the input was read only a person can ask, and the defaults apply. */
export function askingRules({ opened }: RootState): AskingRules {
  return {
    use_defaults: opened?.use_defaults ?? false,
    autonomy: opened?.autonomy ?? 'ask',
    questions: opened?.questions ?? resolveQuestionRules(undefined),
    approvers: opened?.approvers ?? null,
  };
}

/** @returns why criteria can't be waived that the user named before the input was read; null when all can. */
export function takeUpOpened(state: RootState, opened: OpenRunResult): string | null {
  state.opened = opened;
  state.goal_title = opened.goal_title;
  state.waves_allowed = opened.limits.max_waves;
  state.budget = openBudget(opened.budget);
  state.criteria = waiveCriteria(opened.criteria, state.waived);
  const planned = applyPlan(opened.criteria, opened.plan?.delegations ?? []);
  return unknownCriteria(state.waived, planned);
}

/** Returns what the record of a run begins with. */
export function recordStart({ record_ref, known_inputs, taken_over }: OpenRunResult): RecordStart {
  const { stale = [], facts_total = 0, recent_facts: facts = [] } = taken_over ?? {};
  return { record_ref, known_inputs, stale, facts_total, facts };
}

/** Returns the usage that the run knows of. */
export function knownSpent({ usage, started_at }: RootState): KnownSpent {
  // After a reset to its beginning, a run takes the time of its new first task for its start.
  const startedMs = workflowInfo().startTime.getTime();
  return { usage, since: Math.min(startedMs, started_at * 1_000) };
}

/** Returns the usage of finished waves, and that of the design or the judgement at work so far. */
export function usageSoFar({ usage, design, judging }: RootState): Usage {
  return addUsage(usage, design?.usage ?? noUsage, judging?.() ?? noUsage);
}

/** Describes the use of finished waves, of the design and of judgements against the run's limits, for people. Empty when nothing is limited. */
export function describeBudget(state: RootState): string {
  const { budget } = state;
  if (budget === null) return '';
  const usage = usageSoFar(state);
  const { worked_ms, limits } = budget;
  const against = describeAgainst({ ...spendingOf(usage), worked_ms }, limits.run);
  const unreported = formatUnreported(usage);
  return against === '' || unreported === ''
    ? against
    : `${against} (${unreported} of it may have been billed without a report)`;
}
