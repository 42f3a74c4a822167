import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { FoundOutputs } from '../../contracts/run-log.ts';
import type { DetailEntry, RecordedWave, RunRecord } from '../../contracts/run-record.ts';
import { waveNumber } from '../ids.ts';
import { openCriteria } from '../criteria/criteria.ts';
import { dropReplaced, mapReplaced } from '../schedule/dependencies.ts';
import type { TriadPhase } from '../../contracts/triad.ts';

/** Completed delegation with its output. */
export interface Deliverable extends DelegationOutcome {
  readonly wave: number;
  readonly output_ref: Ref;
}

/** The part of a record that tells results. */
interface Results {
  readonly waves: readonly Pick<RecordedWave, 'wave' | 'outcomes'>[];
}

/** Lists completed delegations that have an output, in the order of waves and outcomes. */
export function listCompleted(record: Results): readonly Deliverable[] {
  return record.waves.flatMap((wave) =>
    wave.outcomes.flatMap((outcome) =>
      outcome.status === 'completed' && outcome.output_ref !== null
        ? [{ ...outcome, output_ref: outcome.output_ref, wave: wave.wave }]
        : [],
    ),
  );
}

/** Lists completed delegations whose result a later one explicitly replaces, each with the newest of those. */
export function listSuperseded(
  record: Results,
): readonly { readonly older: Deliverable; readonly newest: Deliverable }[] {
  const completed = listCompleted(record);
  const newestOf = mapReplaced(completed);
  return completed.flatMap((older) => {
    const newest = newestOf.get(older.delegation_id);
    return newest === undefined ? [] : [{ older, newest }];
  });
}

/**
 * Lists what the run delivers: the completed delegations that nothing replaced. One is replaced when a completed delegation says
 * so, or when those of later waves speak on all of its criteria again, or produce everything again that it produces.
 */
export function listDeliverables(record: RunRecord): readonly Deliverable[] {
  const completed = dropReplaced(listCompleted(record));
  return completed.filter((one) => {
    const later = completed.filter((other) => other.wave > one.wave);
    return (
      !isCovered(criteriaOf(one), later.flatMap(criteriaOf)) &&
      !isCovered(
        one.produces,
        later.flatMap((other) => other.produces),
      )
    );
  });
}

/** Lists the names of results that leave criteria of the run open. */
export function listUnmetInputs(record: RunRecord): readonly string[] {
  const open = new Set(openCriteria(record.criteria));
  const unmet = new Set(
    listCompleted(record)
      .filter(({ criteria_unmet }) => criteria_unmet.some((id) => open.has(id)))
      .map(({ output_ref }) => output_ref),
  );
  return record.details
    .filter(({ output_ref }) => unmet.has(output_ref))
    .map(({ detail_id }) => detail_id);
}

function criteriaOf(outcome: DelegationOutcome): readonly string[] {
  return [...outcome.criteria_met, ...outcome.criteria_unmet];
}

/**
 * Returns true when all names are covered. An empty list is never covered: a delegation without criteria or products
 * can't be replaced by them.
 */
function isCovered(names: readonly string[], by: readonly string[]): boolean {
  return names.length > 0 && names.every((name) => by.includes(name));
}

/** Phase of a triad that was started alone and is not its last: it hands over a summary and no output. */
export interface HandedOver {
  readonly delegation_id: string;
  readonly phase: TriadPhase;
  readonly report_ref: Ref;
}

export function findHandedOver(record: RunRecord): HandedOver | null {
  const outcomes = record.waves.flatMap((wave) => wave.outcomes);
  const one = outcomes.find(
    ({ status, output_ref }) => status === 'completed' && output_ref === null,
  );
  const { executor } = one ?? {};
  const last = executor?.kind === 'triad' ? executor.work?.phases.at(-1) : undefined;
  if (one === undefined || last === undefined) return null;
  const { phase, report_ref } = last;
  return { delegation_id: one.delegation_id, phase, report_ref };
}

/** Sources of a wave's details, besides its completed delegations. */
interface DetailSources {
  readonly delegationIds: ReadonlySet<string>;
  readonly superseded: ReturnType<typeof listSuperseded>;
  readonly outputs: FoundOutputs;
}

/**
 * Adds the details of a wave's completed delegations: one under the delegation_id, and one for each name it produces.
 *
 * A name that is produced again refers to the newest result. A result that replaces others takes over their names, and
 * their own details are removed. A delegation_id and the names of the engine's own inputs are reserved, so a product
 * can't take one.
 */
export function addDetails(
  details: readonly DetailEntry[],
  completed: readonly Deliverable[],
  { delegationIds, superseded, outputs }: DetailSources,
): readonly DetailEntry[] {
  const replaced = new Set(superseded.map(({ older }) => older.delegation_id));
  const next = new Map(
    details.flatMap((entry) => (replaced.has(entry.detail_id) ? [] : [[entry.detail_id, entry]])),
  );
  for (const one of completed) {
    if (replaced.has(one.delegation_id)) continue;
    const older = superseded.filter(({ newest }) => newest.delegation_id === one.delegation_id);
    const produced = [one, ...older.map((pair) => pair.older)].flatMap(({ produces }) => produces);
    const names = produced.filter((name) => !delegationIds.has(name) && !isEngineInput(name));
    for (const detailId of [one.delegation_id, ...names]) {
      // Deleted first, so that a newer entry is last in order.
      next.delete(detailId);
      next.set(detailId, createEntry(detailId, one, outputs));
    }
  }
  return [...next.values()];
}

function createEntry(detailId: string, one: Deliverable, outputs: FoundOutputs): DetailEntry {
  const { summary = '', bytes = 0 } = outputs[one.output_ref] ?? {};
  const { files = [] } = one;
  return {
    detail_id: detailId,
    title: one.title,
    summary,
    tags: [`wave-${waveNumber(one.wave)}`, one.agent_id, ...one.produces],
    size: files.reduce((sum, file) => sum + file.bytes, bytes),
    output_ref: one.output_ref,
    ...(files.length > 0 && { files }),
  };
}

/** Names that a delegation may require: what the user gave, every detail, and every answered question. */
export function listKnownInputs(record: RunRecord): readonly string[] {
  return [
    'goal',
    ...(record.constraints.length === 0 ? [] : ['constraints']),
    ...record.details.map((entry) => entry.detail_id),
    ...record.answered_questions.map((answered) => answered.question_id),
  ];
}

/** Names of inputs that the engine gives itself. No delegation can produce one. */
export function isEngineInput(name: string): boolean {
  return name === 'goal' || name === 'constraints' || /^q[1-9]\d*$/.test(name);
}
