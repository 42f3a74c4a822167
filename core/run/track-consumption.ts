import type {
  ConsumedInput,
  Consumption,
  RecordedWave,
  RunRecord,
  ShownToWave,
} from '../../contracts/run-record.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { StaleCause } from '../../contracts/run-log.ts';
import { decisionSource, waveSource } from '../ids.ts';
import { isSameValue } from '../pool/admit-facts.ts';
import { collectUpstream, dropReplaced, listReplaced } from '../schedule/dependencies.ts';
import { markStale } from '../pool/mark-stale.ts';
import { isEngineInput, listCompleted, listSuperseded } from './list-deliverables.ts';
import type { WavePlan } from '../../contracts/wave-plan.ts';

/**
 * Reads the facts, answers and decision in the packets of a wave. @param record The record that they are rendered from.
 */
export function readShown(record: RunRecord): ShownToWave {
  const decided = record.waves.findLast((wave) => wave.decision_ref !== null);
  return {
    fact_ids: record.facts
      .filter((fact) => fact.is_assumption && fact.superseded_by === null)
      .map(({ fact_id }) => fact_id),
    question_ids: record.answered_questions.map(({ question_id }) => question_id),
    decision: decided === undefined ? null : decisionSource(decided.wave),
  };
}

/**
 * Reads the basis of each completed delegation of a wave. @param shown The record that its packet was rendered from.
 */
export function readConsumptions(
  record: RunRecord,
  shown: RunRecord,
  { wave, outcomes }: RecordedWave,
  plan: WavePlan,
): readonly Consumption[] {
  const byId = new Map(plan.delegations.map((one) => [one.delegation_id, one]));
  const producers = listProducers(shown);
  return outcomes.flatMap(({ delegation_id, status, output_ref, loaded_details }) => {
    const delegation = byId.get(delegation_id);
    if (status !== 'completed' || output_ref === null || delegation === undefined) return [];
    const older = listReplaced(delegation, plan.delegations);
    const upstream = dropReplaced(collectUpstream(delegation, byId))
      .filter((one) => !older.includes(one.delegation_id))
      .flatMap((one) => namesOf(one, plan, shown, waveSource(wave, one.delegation_id)));
    const replaced = new Set(older.flatMap((id) => namesInRecord(id, shown)));
    const { required_inputs, provided_inputs } = delegation;
    const names = new Set([...required_inputs, ...provided_inputs, ...loaded_details]);
    const earlier = [...names].flatMap((name): ConsumedInput[] => {
      const source = producers.get(name);
      const isUpstream = upstream.some((one) => one.name === name);
      return source === undefined || isUpstream || replaced.has(name) ? [] : [{ name, source }];
    });
    const question_ids = record.answered_questions
      .filter((one) => one.delegation_id === delegation_id)
      .map(({ question_id }) => question_id);
    return [{ delegation_id, wave, question_ids, inputs: [...upstream, ...earlier] }];
  });
}

/** Lists the names of a delegation's output for later ones: its own, and those of all that it replaces. */
function namesOf(
  delegation: Delegation,
  { delegations }: WavePlan,
  shown: RunRecord,
  source: string,
): ConsumedInput[] {
  const older = listReplaced(delegation, delegations);
  const versions = [
    delegation,
    ...delegations.filter((one) => older.includes(one.delegation_id)),
  ].flatMap(({ delegation_id, produces }) => [delegation_id, ...produces]);
  const names = [...versions, ...older.flatMap((id) => namesInRecord(id, shown))];
  return [...new Set(names)].map((name) => ({ name, source }));
}

/** Lists all names of a delegation's output in the record. */
function namesInRecord(delegationId: string, { details }: RunRecord): string[] {
  const own = details.find((one) => one.detail_id === delegationId);
  if (own === undefined) return [];
  return details
    .filter((one) => one.output_ref === own.output_ref)
    .map(({ detail_id }) => detail_id);
}

/** Maps each name to the source of its output: the newest that produces or replaces it, as in the record's details. */
function listProducers(record: RunRecord): ReadonlyMap<string, string> {
  const newestOf = new Map(
    listSuperseded(record).map(({ older, newest }) => [older.delegation_id, newest]),
  );
  const ids = new Set(record.waves.flatMap((one) => one.outcomes.map((o) => o.delegation_id)));
  return new Map(
    listCompleted(record).flatMap((one) => {
      const { delegation_id, produces } = one;
      const products = produces.filter((name) => !ids.has(name) && !isEngineInput(name));
      const newest = newestOf.get(delegation_id) ?? one;
      const source = waveSource(newest.wave, newest.delegation_id);
      return [delegation_id, ...products].map((name) => [name, source] as const);
    }),
  );
}

/**
 * Marks delegations whose basis a change takes back.
 *
 * @param ended The wave that the change ends, with what its packets showed and does not hold any more; null for any
 * other change. Its delegations worked with their packets, whatever changed later.
 */
export function trackStale(
  before: RunRecord,
  after: RunRecord,
  ended: { readonly wave: number; readonly outdated: readonly StaleCause[] } | null,
): RunRecord {
  if (after.consumptions.length === 0) return after;
  const shown = new Map(after.waves.flatMap((one) => (one.shown ? [[one.wave, one.shown]] : [])));
  const isOwn = ({ wave }: Consumption): boolean => wave === ended?.wave;
  // A replaced result is not used any more, so it can't be outdated.
  const superseded = new Set(
    listSuperseded(after).map(({ older: { delegation_id } }) => delegation_id),
  );
  const counting = after.consumptions.filter((one) => !superseded.has(one.delegation_id));
  const older = counting.filter((one) => !isOwn(one));
  const own = counting.filter(isOwn);
  const changed = markStale(after.stale, { consumptions: older, shown }, findCauses(before, after));
  const marked =
    ended === null ? changed : markStale(changed, { consumptions: own, shown }, ended.outdated);
  const stale = markStale(marked, { consumptions: counting, shown }, []);
  return stale.length === 0 ? after : { ...after, stale };
}

/** Finds changes between two records: facts, answers and outputs of the first that do not hold in the second. */
export function findCauses(before: RunRecord, after: RunRecord): readonly StaleCause[] {
  return [
    ...findSuperseded(before, after),
    ...findChanged(before, after),
    ...findReproduced(before, after),
    ...findReplaced(before, after),
  ];
}

function findSuperseded(before: RunRecord, after: RunRecord): StaleCause[] {
  if (before.facts === after.facts) return [];
  return after.facts.flatMap((fact, index): StaleCause[] => {
    const { superseded_by } = fact;
    if (superseded_by === null || before.facts[index]?.superseded_by) return [];
    const winner = after.facts.find(({ fact_id }) => fact_id === superseded_by);
    // It still holds: as a fact that was an assumption, or under a key that names its subject.
    if (winner?.statement === fact.statement) return [];
    if (winner?.value && fact.value && isSameValue(winner.value, fact.value)) return [];
    return [{ type: 'fact', fact, by: winner?.source_refs[0] ?? superseded_by }];
  });
}

/** An answer that was amended before a wave ended reached it as it was first. */
function findChanged(before: RunRecord, after: RunRecord): StaleCause[] {
  const known = new Map(before.answered_questions.map((one) => [one.question_id, one]));
  return after.answered_questions
    .filter((one) => (one.amended_at ?? null) !== (known.get(one.question_id)?.amended_at ?? null))
    .map(({ question_id }) => ({ type: 'answer', question_id }));
}

/** Results that a delegation replaced by its word. What it was made from, such as a review of them, stays as it is. */
function findReplaced(before: RunRecord, after: RunRecord): StaleCause[] {
  if (before.waves === after.waves) return [];
  const known = new Set(listSuperseded(before).map(({ older }) => older.delegation_id));
  return listSuperseded(after).flatMap(({ older, newest }): StaleCause[] => {
    if (known.has(older.delegation_id)) return [];
    const made = after.consumptions.find((one) => one.delegation_id === newest.delegation_id);
    return [
      {
        type: 'replaced',
        source: waveSource(older.wave, older.delegation_id),
        by: waveSource(newest.wave, newest.delegation_id),
        made_from: (made?.inputs ?? []).map(({ source }) => source),
      },
    ];
  });
}

/** Names that stand for another output now, because it produces them too. */
function findReproduced(before: RunRecord, after: RunRecord): StaleCause[] {
  if (before.waves === after.waves) return [];
  const replaced = new Set(
    listSuperseded(after).map(({ older }) => waveSource(older.wave, older.delegation_id)),
  );
  const producers = listProducers(after);
  return [...listProducers(before)].flatMap(([name, source]): StaleCause[] => {
    const by = producers.get(name) ?? source;
    return by === source || replaced.has(source) ? [] : [{ type: 'input', name, source, by }];
  });
}
