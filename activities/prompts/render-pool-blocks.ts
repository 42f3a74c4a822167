import type { Prompt } from '../../contracts/model-turn.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { engineLimits } from '../../core/limits.ts';
import { chooseConflicts, chooseSides, findConflicts } from '../../core/pool/find-conflicts.ts';
import type { Conflict } from '../../core/pool/find-conflicts.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { loadTexts } from '../projection/record-texts.ts';
import { factsFromOutputs } from '../run-record/propose-facts.ts';
import { blockBytesMax } from './block-limits.ts';
import { jsonBlock, listBlock } from './blocks.ts';
import { currentFacts, showFact } from './read-wave.ts';

/**
 * What a decision has to leave without contradiction: the standing facts, and the conflicts that it must resolve. The
 * conflicts are never cut, because each of them is asked for by name.
 */
export async function renderPoolBlocks(
  store: ArtifactStore,
  record: RunRecord,
  { wave, outcomes }: Extract<Prompt, { kind: 'decision' }>,
): Promise<readonly string[]> {
  const texts = await loadTexts(store, [{ outputs: outcomes.map((one) => one.output_ref) }]);
  const all = findConflicts(record.facts, factsFromOutputs(wave, outcomes, texts));
  const shown = chooseConflicts(all);
  const later = all.length - shown.length;
  const facts = currentFacts(record)
    .filter(({ key }) => key !== null)
    .slice(-engineLimits.factsShownMax)
    .map(showFact);
  return [
    listBlock('facts', facts, blockBytesMax.facts, 'last'),
    jsonBlock('conflicts', shown.map(showConflict)) +
      (later === 0 ? '' : `\n[${later} more conflicts are left to the next decision.]`),
  ];
}

function showConflict(conflict: Conflict): object {
  const sides = chooseSides(conflict);
  return {
    conflict: conflict.conflict_id,
    sides: sides.map(({ source, value, origin }) => ({ source, value, origin })),
    sides_left_out: conflict.sides.length - sides.length,
  };
}
