import type { Prompt } from '../../contracts/model-turn.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { engineLimits } from '../../core/limits.ts';
import { dropReplacedOutcomes } from '../../core/plan/replaced.ts';
import { chooseConflicts, chooseSides, findConflicts } from '../../core/pool/find-conflicts.ts';
import type { Conflict } from '../../core/pool/find-conflicts.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { loadTexts } from '../projection/record-texts.ts';
import { factsFromOutputs } from '../run-record/propose-facts.ts';
import { readDisputes } from '../run-record/read-disputes.ts';
import { blockBytesMax } from './block-limits.ts';
import { jsonBlock, listBlock } from './blocks.ts';
import { currentFacts, showFact } from './read-wave.ts';
import { renderMinorityBlock } from './render-minority-block.ts';

/**
 * What a decision has to leave without contradiction: the standing facts, the conflicts that it must resolve, and what the
 * members of triads said in those that are theirs. The conflicts are never cut, because each is asked for by name.
 */
export async function renderPoolBlocks(
  store: ArtifactStore,
  record: RunRecord,
  { wave, outcomes }: Extract<Prompt, { kind: 'decision' }>,
): Promise<readonly string[]> {
  // The check of the decision knows no others: a fact of a replaced result is no side of a conflict.
  const standing = dropReplacedOutcomes(outcomes);
  const texts = await loadTexts(store, [{ outputs: standing.map((one) => one.output_ref) }]);
  const disputes = await readDisputes(store, wave, outcomes);
  const torn = disputes.map(({ conflict }) => conflict);
  const found = findConflicts(record.facts, factsFromOutputs(wave, standing, texts));
  const shown = chooseConflicts(found, torn);
  const asked = disputes.filter(({ conflict }) => shown.includes(conflict));
  const facts = currentFacts(record)
    .filter(({ key }) => key !== null)
    .slice(-engineLimits.factsShownMax)
    .map(showFact);
  return [
    listBlock('facts', facts, blockBytesMax.facts, 'last'),
    jsonBlock('conflicts', shown.map(showConflict)) +
      tellLeft(
        found.length + asked.length - shown.length,
        'conflicts are left to the next decision',
      ) +
      tellLeft(disputes.length - asked.length, 'disputes of triads are told in their outputs only'),
    ...(asked.length === 0 ? [] : [await renderMinorityBlock(store, asked)]),
  ];
}

function tellLeft(count: number, what: string): string {
  return count === 0 ? '' : `\n[${count} more ${what}.]`;
}

function showConflict(conflict: Conflict): object {
  const sides = chooseSides(conflict);
  return {
    conflict: conflict.conflict_id,
    sides: sides.map(({ source, value, origin }) => ({ source, value, origin })),
    sides_left_out: conflict.sides.length - sides.length,
  };
}
