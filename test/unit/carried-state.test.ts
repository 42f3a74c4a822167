import type { CarriedRun } from '../../contracts/planner-run.ts';
import { defaultLimits } from '../../core/limits.ts';
import { resolveQuestionRules } from '../../core/questions/inbox-event.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { someRef } from '../support/factories.ts';
import { carryState } from '../../workflows/planner-run/carry-over.ts';
import { openRootState } from '../../workflows/shared/root-state.ts';

type State = ReturnType<typeof carryState>;

/** Fields of the state that is carried. */
type Carried = Required<Pick<CarriedRun, keyof State>>;

const carried: Carried = {
  registry_ref: someRef,
  agents: [],
  limits: defaultLimits,
  use_defaults: true,
  notes: true,
  autonomy: 'ask',
  verify: ['speed'],
  verify_triad: 'consensus',
  changes: 'apply',
  triads: true,
  teams: null,
  models: [],
  goal_title: 'Compare two shops',
  store: { id: 'store-1', place: 'here' },
  load: { priority: 2 },
  unattended: true,
  notify: true,
  questions: resolveQuestionRules(undefined),
  approvers: ['ann'],
  started_at: 1_727_539_200,
  budget: null,
  design_request: {
    mode: 'auto',
    auto_approve: true,
    research_max_age_days: 30,
    plan: null,
    technologies: [],
  },
  mode_chosen: { mode: 'designed', reasons: ['3 agents'] },
  first_plan_ref: someRef,
  plan_approved: { plan_ref: someRef, agents: [], tasks: 2, proofs_of_concept: 1 },
  design_at_work: { materials: [], plan_refs: [someRef], lost: { ...noUsage, calls: 2 } },
  again: ['facts_1727539200'],
  unjudged: {
    crashed: [{ delegation_id: 'facts_1727539200', title: 'Find facts', reason: 'It broke off.' }],
    loops: [{ delegation_id: 'page_1727539200', question: 'Which countries?' }],
  },
  wave: 3,
  waves_allowed: 9,
  criteria: [{ criterion_id: 'speed', state: 'open', delegation_id: null }],
  usage: { ...noUsage, calls: 7 },
  amendments: ['Name the country.'],
  news: { last: 4, from_user: 3, considered: 2 },
  waived: ['price'],
  wave_outlines: [],
};

/** Everything that is carried besides. */
const rest = {
  version: 1,
  record_ref: someRef,
  known_inputs: [],
  delegation_ids: [],
  fingerprints: {},
  stale: [],
  inbox: {
    open: [],
    answered: {},
    next_question: 1,
    asked: {},
    rejected: [],
    rejected_total: 0,
    pending: [],
  },
  recent_answers: [],
  facts_total: 0,
  recent_facts: [],
  paused_reason: null,
  parked_reason: null,
} as const;

/** The state after continue-as-new. */
function carryOn(state: State): State {
  const next = openRootState({ ...state, ...rest });
  if (next.opened === null) throw new Error('A carried run is open.');
  return carryState(next, next.opened);
}

it('what a run carries over continue-as-new is carried over the next one, too', () => {
  // A design at work ends with the approval of its plan.
  const { design_at_work, ...approved } = carried;
  expect(carryOn(approved)).toEqual(approved);
  const { plan_approved: _approved, ...designing } = carried;
  expect(carryOn(designing)).toMatchObject({ design_at_work, mode_chosen: carried.mode_chosen });
});
