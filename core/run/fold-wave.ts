import type { EventOf, PlannedTask } from '../../contracts/run-log.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { RunRecord, StoredWave } from '../../contracts/run-record.ts';
import { dropReplacedOutcomes } from '../schedule/dependencies.ts';
import { admitFacts } from '../pool/admit-facts.ts';
import { keyApart } from '../decision/check-keys-apart.ts';
import { markRedone } from '../pool/mark-stale.ts';
import {
  settleFacts,
  settleStanding,
  factsFromDecision,
  factsFromOutputs,
} from '../pool/settle-facts.ts';
import { addUsage, noUsage } from '../usage/add-usage.ts';
import { addDetails, listCompleted, listSuperseded } from './list-deliverables.ts';
import type { Deliverable } from './list-deliverables.ts';
import { addPlannedCriteria, applyCriterionStates, rewordCriteria } from './record-criteria.ts';
import type { Adaptation } from '../../contracts/adaptation.ts';
import type { RecordedDesign } from '../../contracts/design-run.ts';
import type { RecordedEffect } from '../../contracts/effect.ts';
import type { SessionReport } from '../../contracts/note.ts';
import { listDropped } from '../workspace/run-changes.ts';
import type { Fact } from '../../contracts/agent-output.ts';
import { definedOnly } from '../json.ts';

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
    ...definedOnly({
      merge_conflicts: wave.merge_conflicts,
      task_conflicts: wave.task_conflicts,
    }),
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
    ...definedOnly({ expected, guarded }),
  };
}

/** Folds what a design, or a judgement of the work on its plan, has come to. */

export function foldDesign(record: RunRecord, event: EventOf<'designed'>): RunRecord {
  const { progress, adaptation, tasks, plan_agents } = event;
  const before: RecordedDesign = record.design ?? undesigned;
  const { status, approved_by, usage, findings } = progress;
  const isDuringWork = adaptation !== undefined;
  const design: RecordedDesign = {
    ...before,
    status,
    materials: [...before.materials, ...progress.materials],
    plan_refs: [...before.plan_refs, ...progress.plan_refs],
    plan_agents: plan_agents ?? before.plan_agents,
    findings,
    approved_by: isDuringWork ? (approved_by ?? before.approved_by) : approved_by,
    usage: isDuringWork ? addUsage(before.usage, usage) : usage,
    ...listAdaptations(before, adaptation ?? null, progress.plan_refs.length),
  };
  const reworded = adaptation?.reworded_evidence ?? [];
  const criteria = addPlannedCriteria(rewordCriteria(record.criteria, tasks, reworded), tasks);
  return { ...record, design, criteria, usage: sumUsage({ ...record, design }) };
}

const undesigned: RecordedDesign = {
  status: 'designing',
  materials: [],
  plan_refs: [],
  plan_agents: [],
  findings: [],
  approved_by: null,
  usage: noUsage,
};

/** @param versions Versions of the plan that were made for it. */
function listAdaptations(
  { adaptations = [] }: RecordedDesign,
  added: Adaptation | null,
  versions: number,
): Pick<RecordedDesign, 'adaptations'> {
  if (added === null) return {};
  return { adaptations: [...adaptations, { ...added, ...(versions > 1 && { versions }) }] };
}

/** Report about effects and sessions. Each replaces the earlier ones of the same effect or session. */
export type ReportEvent = EventOf<'effect' | 'session' | 'archival' | 'archived'>;

/** Returns the record after a report. It takes nothing back that others built on. */
export function foldReport(record: RunRecord, event: ReportEvent): RunRecord {
  switch (event.type) {
    case 'effect':
      return takeEffect(record, event.effect);
    case 'session':
      return takeSession(record, event.session);
    case 'archival':
      return { ...record, archival: event.result };
    case 'archived':
      return { ...record, archived_by: event.by };
  }
}

/**
 * Replaces the effect's earlier report by the new one. A known result is not replaced by a mere intention. The wave after a lost
 * one may use the same ids: its effects are others.
 */
function takeEffect(record: RunRecord, effect: RecordedEffect): RunRecord {
  const effects = record.effects ?? [];
  const before = effects.find(
    (one) => one.effect_id === effect.effect_id && one.wave === effect.wave,
  );
  if (before === undefined) return { ...record, effects: [...effects, effect] };
  if (effect.state === 'intended' && before.state !== 'intended') return record;
  return { ...record, effects: effects.map((one) => (one === before ? effect : one)) };
}

/** Marks open effects as unverified at the end of a run, when their results can't become known any more. */
export function endEffects(record: RunRecord, now: number): RunRecord {
  if (record.effects === undefined) return record;
  const reason = 'The run ended before anybody knew.';
  return {
    ...record,
    effects: record.effects.map((one) =>
      one.state === 'intended' ? { ...one, state: 'unverified', reason, updated_at: now } : one,
    ),
  };
}

function takeSession(record: RunRecord, session: SessionReport): RunRecord {
  const { sessions = [] } = record;
  const isSame = (one: SessionReport): boolean => one.delegation_id === session.delegation_id;
  const next = sessions.some(isSame)
    ? sessions.map((one) => (isSame(one) ? session : one))
    : [...sessions, session];
  return { ...record, sessions: next };
}
