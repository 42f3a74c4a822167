import type { RecordedEffect } from '../../contracts/effect.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { bullets, cutLine } from './markdown.ts';
import { treePaths } from './paths.ts';
import { resultLimits } from './result-limits.ts';

/** What tools changed outside of the run, and what nobody could confirm. Empty parts are null. */
export function renderResultEffects({ effects = [] }: RunRecord): readonly (string | null)[] {
  // Of several changes to one target, the newest is what stands there.
  const confirmed = new Map(
    effects.filter(({ state }) => state === 'confirmed').map((one) => [one.target, one]),
  );
  const unclear = effects.filter(({ state }) => state === 'unverified' || state === 'skipped');
  return [
    renderList(
      '## What was changed outside of the run',
      [...confirmed.values()],
      describeConfirmed,
    ),
    renderList('## Changes that nobody could confirm', unclear, describeUnclear),
  ];
}

function describeConfirmed({ target, receipt, reason, delegation_id }: RecordedEffect): string {
  const proof = receipt === null ? reason : `${receipt.bytes} bytes`;
  return `\`${target}\` by ${delegation_id}: ${proof}`;
}

function describeUnclear({ target, tool, reason, delegation_id }: RecordedEffect): string {
  // Nobody has said what the call was to change.
  if (target === '') return `A call of ${delegation_id} (${tool}): ${reason}`;
  return `\`${target}\` by ${delegation_id} (${tool}): ${reason}`;
}

function renderList(
  heading: string,
  effects: readonly RecordedEffect[],
  describe: (effect: RecordedEffect) => string,
): string | null {
  if (effects.length === 0) return null;
  const lines = effects
    .slice(0, resultLimits.listEntriesMax)
    .map((one) =>
      cutLine(describe(one), { charsMax: resultLimits.lineCharsMax, whole: treePaths.effects }),
    );
  const more = effects.length - lines.length;
  const tail = more === 0 ? '' : `\n- … and ${more} more: ${treePaths.effects}`;
  return `${heading}\n\n${bullets(lines, '')}${tail}`;
}
