import type { Fact } from '../../contracts/fact.ts';
import type {
  RecordChange,
  RecordedWave,
  RunRecord,
  StoredWave,
} from '../../contracts/run-record.ts';
import type { WavePlan } from '../../contracts/wave-plan.ts';
import { admitFacts } from '../../core/pool/admit-facts.ts';
import { keyApart } from '../../core/pool/key-apart.ts';
import { dropReplacedOutcomes } from '../../core/schedule/dependencies.ts';
import { markRedone } from '../../core/pool/mark-stale.ts';
import { settleFacts, settleStanding } from '../../core/pool/settle-facts.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import { listCompleted, listSuperseded } from '../projection/list-deliverables.ts';
import type { Deliverable } from '../projection/list-deliverables.ts';
import { textOf } from '../projection/record-texts.ts';
import type { RecordTexts } from '../projection/record-texts.ts';
import { addDetails } from './list-details.ts';
import { factsFromDecision, factsFromOutputs } from './propose-facts.ts';
import { addPlannedCriteria, applyCriterionStates } from './record-criteria.ts';
import { readConsumptions, readShown } from './track-consumption.ts';
import { upsertWave } from './upsert-wave.ts';

/** Adds the results of a wave: its outcomes, criteria with their notes, details, and facts. */
export function applyWaveDone(
  record: RunRecord,
  { wave, criteria }: Extract<RecordChange, { readonly type: 'wave_done' }>,
  texts: RecordTexts,
  now: number,
): RunRecord {
  const planned = record.waves.find((one) => one.wave === wave.wave);
  const shown = wave.record_ref === null ? null : textOf(texts.records, wave.record_ref);
  // Field by field: a workflow may send more than the record keeps.
  const waves = upsertWave(record.waves, {
    wave: wave.wave,
    status: wave.status,
    plan_ref: wave.plan_ref,
    outcomes: wave.outcomes,
    decision_ref: wave.decision_ref,
    usage: wave.usage,
    ...plannedParts(planned),
    done_at: now,
    shown: shown === null ? null : readShown(shown),
  });
  const plan = wave.plan_ref === null ? null : textOf(texts.plans, wave.plan_ref);
  const decision = wave.decision_ref === null ? null : textOf(texts.decisions, wave.decision_ref);
  const known = plan === null ? record.criteria : addPlannedCriteria(record.criteria, plan);
  const completed = listCompleted({ ...record, waves }).filter((one) => one.wave === wave.wave);
  const delegationIds = new Set(waves.flatMap((one) => one.outcomes.map((o) => o.delegation_id)));
  return {
    ...record,
    waves,
    usage: addUsage(...waves.map((one) => one.usage)),
    criteria: applyCriterionStates(known, criteria, { outcomes: wave.outcomes, decision, texts }),
    details: addDetails(record.details, completed, {
      delegationIds,
      superseded: listSuperseded({ ...record, waves }),
      texts,
    }),
    facts: addFacts(record.facts, wave, texts, now),
    consumptions: [
      ...record.consumptions.filter((one) => one.wave !== wave.wave),
      ...(plan === null || shown === null ? [] : readConsumptions(record, shown, wave, plan)),
    ],
    stale: plan === null ? record.stale : markRedone(record.stale, findRedone(plan, completed)),
  };
}

/** Maps each stale delegation to the completed one that redid it, or replaced its result. */
function findRedone(
  { delegations }: WavePlan,
  completed: readonly Deliverable[],
): ReadonlyMap<string, string> {
  const done = new Set(completed.map(({ delegation_id }) => delegation_id));
  return new Map(
    delegations.flatMap(({ delegation_id, redoes, replaces }) =>
      done.has(delegation_id)
        ? [redoes, replaces].flatMap((id) =>
            id === undefined ? [] : [[id, delegation_id] as const],
          )
        : [],
    ),
  );
}

/** Adds the wave's statements first, because the decision refers to them. */
function addFacts(
  pool: readonly Fact[],
  { wave, outcomes, decision_ref: ref }: RecordedWave,
  texts: RecordTexts,
  now: number,
): readonly Fact[] {
  const stated = factsFromOutputs(wave, dropReplacedOutcomes(outcomes), texts);
  if (ref === null) return settleStanding(admitFacts(pool, stated, now));
  const decision = textOf(texts.decisions, ref);
  const { conflicts_resolved } = decision.planner_decision;
  const known = admitFacts(pool, [...stated, ...factsFromDecision(wave, ref, decision)], now);
  const apart = keyApart(known, wave, conflicts_resolved, now);
  return settleStanding(settleFacts(apart, wave, conflicts_resolved));
}

/** Returns the fields of a wave that were set when it was planned. */
function plannedParts(
  planned: StoredWave | undefined,
): Pick<StoredWave, 'planned_at' | 'expected'> {
  const planned_at = planned?.planned_at ?? null;
  return planned?.expected === undefined
    ? { planned_at }
    : { planned_at, expected: planned.expected };
}
