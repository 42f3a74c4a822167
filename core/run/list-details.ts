import type { FoundOutputs } from '../../contracts/run-log.ts';
import type { DetailEntry, RunRecord } from '../../contracts/run-record.ts';
import { waveNumber } from '../ids.ts';
import type { Deliverable, listSuperseded } from './list-deliverables.ts';

/** Sources of a wave's details, besides its completed delegations. */
interface DetailSources {
  /** All delegation_ids of the run. */
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
