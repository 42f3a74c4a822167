import type { Ref } from '../../contracts/ref.ts';
import { readRecord } from '../artifacts/record-log.ts';
import { readWebReport } from '../artifacts/web-report.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { isPerson } from '../../core/questions/answer-kinds.ts';

/** Reads the texts whose addresses may be opened: those of people, and the sources of earlier research. */
export async function readKnownTexts(
  store: ArtifactStore,
  recordRef: Ref,
): Promise<readonly string[]> {
  const record = await readRecord(store, recordRef);
  const { goal, constraints, instructions, answered_questions, effects = [] } = record;
  const reports = effects.flatMap(({ receipt }) =>
    receipt?.web === undefined ? [] : [receipt.sha256],
  );
  const sources = await Promise.all(reports.map((ref) => readWebReport(store, ref)));
  return [
    goal,
    ...constraints,
    ...instructions,
    ...answered_questions
      .filter(({ answered_by }) => isPerson(answered_by))
      .map(({ answer }) => answer ?? ''),
    ...sources.flatMap(({ source_refs }) => source_refs.map(({ url }) => url)),
  ];
}
