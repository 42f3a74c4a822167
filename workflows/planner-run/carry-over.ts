import { allHandlersFinished, condition, continueAsNew } from '@temporalio/workflow';
import type { OpenRunResult } from '../../contracts/activity-types.ts';
import type { CarriedRun, PlannerRunArgs } from '../../contracts/planner-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RootHost } from '../shared/root-host.ts';
import { runTerms } from '../shared/root-state.ts';
import type { RootState } from '../shared/root-state.ts';
import type { RunLedger } from './run-next-wave.ts';

/** Continues as new without losses: writes are done, answers delivered, handlers finished. */
export async function carryOver(host: RootHost, ledger: RunLedger): Promise<never> {
  const { state, control, record, inbox } = host;
  const { opened } = state;
  if (opened === null) throw new Error('A run was carried over before it was opened.');
  const record_ref = await settle(host);
  const taint = ledger.taint();
  const parkedUntil = control.parkedUntil();
  const isParkedAgain = control.parkedReason() !== null && control.hasParkedAgain();
  const carried: CarriedRun = {
    ...carryState(state, opened),
    ...(taint !== undefined && { taint }),
    version: 1,
    record_ref,
    known_inputs: record.knownInputs(),
    delegation_ids: ledger.delegationIds(),
    fingerprints: ledger.fingerprints(),
    stale: record.stale(),
    inbox: inbox.carry(),
    recent_answers: inbox.recentAnswers(),
    facts_total: record.factsTotal(),
    recent_facts: record.facts(),
    ...host.views.carryNotices(),
    paused_reason: control.pausedReason(),
    parked_reason: control.parkedReason(),
    ...(parkedUntil !== null && { parked_until: parkedUntil }),
    ...(isParkedAgain && { parked_again: true }),
  };
  return continueAsNew<(args: PlannerRunArgs) => Promise<unknown>>({ carried });
}

/** Returns what `openRootState` takes up in the next execution. */
export function carryState(state: RootState, opened: OpenRunResult) {
  const { mode, first_plan_ref, plan_approved, again, unjudged } = state;
  return {
    ...runTerms(opened),
    started_at: state.started_at,
    budget: state.budget,
    ...(opened.design !== undefined && { design_request: opened.design }),
    ...(mode !== null && { mode_chosen: mode }),
    ...(first_plan_ref !== null && { first_plan_ref }),
    ...(plan_approved !== null && { plan_approved }),
    ...carryDesign(state),
    ...(again.length > 0 && { again }),
    ...(unjudged !== null && { unjudged }),
    wave: state.wave,
    waves_allowed: state.waves_allowed,
    criteria: state.criteria,
    usage: state.usage,
    amendments: state.amendments,
    news: state.news,
    waived: state.waived,
    wave_outlines: state.waves,
  } satisfies Partial<CarriedRun>;
}

/** Carries what an unfinished design has finished: the next execution goes on from there. */
function carryDesign({ design, plan_approved }: RootState): Pick<CarriedRun, 'design_at_work'> {
  if (design === null || plan_approved !== null) return {};
  const { materials, plan_refs, lost } = design;
  return { design_at_work: { materials, plan_refs, lost } };
}

/**
 * Resolves with the newest record when every handler has finished, every write is done and every notification on its way, also
 * of what came meanwhile: a handler may wait for the same write before it goes on.
 */
async function settle(host: RootHost): Promise<Ref> {
  for (;;) {
    await condition(allHandlersFinished);
    await host.views.settleNotices();
    const record_ref = await host.settleRecord();
    if (host.views.hasToldAll() && allHandlersFinished()) return record_ref;
  }
}
