import type { Fact } from '../../contracts/fact.ts';
import type { EventOf, PlannedTask } from '../../contracts/run-log.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { RunRecord, StoredWave } from '../../contracts/run-record.ts';
import { dropReplacedOutcomes } from '../schedule/dependencies.ts';
import { admitFacts } from '../pool/admit-facts.ts';
import { keyApart } from '../decision/check-keys-apart.ts';
import { markRedone } from '../pool/mark-stale.ts';
import { factsFromDecision, factsFromOutputs } from '../pool/propose-facts.ts';
import { settleFacts, settleStanding } from '../pool/settle-facts.ts';
import { addUsage, noUsage } from '../usage/add-usage.ts';
import { addDetails, listCompleted, listSuperseded } from './list-deliverables.ts';
import { listDropped } from '../workspace/merge-conflicts.ts';
import type { Deliverable } from './list-deliverables.ts';
import { addPlannedCriteria, applyCriterionStates } from './record-criteria.ts';

/** Puts a wave in its place: instead of the one with its number, else at the end. */
export function upsertWave(waves: readonly StoredWave[], wave: StoredWave): readonly StoredWave[] {
  return waves.some((one) => one.wave === wave.wave)
    ? waves.map((one) => (one.wave === wave.wave ? wave : one))
    : [...waves, wave];
}

/** Returns the use of the design and of all waves. */
export function sumUsage({ design, waves }: Pick<RunRecord, 'design' | 'waves'>): Usage {
  return addUsage(design?.usage ?? noUsage, ...waves.map((wave) => wave.usage));
}

/** Reads from the decision whose changes give way. */
function droppedParts({ wave, found }: EventOf<'wave_done'>): Pick<StoredWave, 'dropped'> {
  const dropped = listDropped(wave.merge_conflicts ?? [], found.decision?.conflicts_resolved ?? []);
  return dropped.length === 0 ? {} : { dropped };
}

/** Adds the results of a wave: its outcomes, criteria with their notes, details, and facts. */
export function foldWaveDone(record: RunRecord, event: EventOf<'wave_done'>): RunRecord {
  const { wave, criteria, found } = event;
  const planned = record.waves.find((one) => one.wave === wave.wave);
  // Field by field: a workflow may send more than the record keeps.
  const waves = upsertWave(record.waves, {
    wave: wave.wave,
    status: wave.status,
    plan_ref: wave.plan_ref,
    outcomes: wave.outcomes,
    decision_ref: wave.decision_ref,
    ...droppedParts(event),
    usage: wave.usage,
    ...plannedParts(planned),
    done_at: event.at,
    shown: found.shown,
  });
  const { tasks, outputs, decision } = found;
  const known = addPlannedCriteria(record.criteria, tasks);
  const completed = listCompleted({ ...record, waves }).filter((one) => one.wave === wave.wave);
  const delegationIds = new Set(waves.flatMap((one) => one.outcomes.map((o) => o.delegation_id)));
  return {
    ...record,
    waves,
    usage: sumUsage({ ...record, waves }),
    criteria: applyCriterionStates(known, criteria, {
      outcomes: wave.outcomes,
      decision,
      outputs,
    }),
    details: addDetails(record.details, completed, {
      delegationIds,
      superseded: listSuperseded({ ...record, waves }),
      outputs,
    }),
    facts: addFacts(record.facts, event),
    consumptions: [
      ...record.consumptions.filter((one) => one.wave !== wave.wave),
      ...found.consumptions,
    ],
    stale:
      tasks.length === 0 ? record.stale : markRedone(record.stale, findRedone(tasks, completed)),
  };
}

/** Maps each stale delegation to the completed one that redid it, or replaced its result. */
function findRedone(
  tasks: readonly PlannedTask[],
  completed: readonly Deliverable[],
): ReadonlyMap<string, string> {
  const done = new Set(completed.map(({ delegation_id }) => delegation_id));
  return new Map(
    tasks.flatMap(({ delegation_id, redoes, replaces }) =>
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
  { wave: { wave, outcomes, decision_ref: ref }, found, at }: EventOf<'wave_done'>,
): readonly Fact[] {
  const { outputs, decision } = found;
  const stated = factsFromOutputs(wave, dropReplacedOutcomes(outcomes), (one) => outputs[one]);
  if (ref === null || decision === null) return settleStanding(admitFacts(pool, stated, at));
  const { conflicts_resolved } = decision;
  const known = admitFacts(pool, [...stated, ...factsFromDecision(wave, ref, decision)], at);
  const apart = keyApart(known, wave, conflicts_resolved, at);
  return settleStanding(settleFacts(apart, wave, conflicts_resolved));
}

/** Returns the fields of a wave that were set when it was planned. */
function plannedParts(
  planned: StoredWave | undefined,
): Pick<StoredWave, 'planned_at' | 'expected' | 'guarded'> {
  const { planned_at = null, expected, guarded } = planned ?? {};
  return {
    planned_at,
    ...(expected !== undefined && { expected }),
    ...(guarded !== undefined && { guarded }),
  };
}
