import type { OutputFault } from '../../contracts/output-fault.ts';
import type { TurnOutline } from '../../contracts/model-turn.ts';

/**
 * Checks a verdict beyond its shape.
 *
 * Invariants:
 *   VD1. A failure names what is missing; a pass names nothing.
 */
export function checkVerdict(outline: TurnOutline): OutputFault[] {
  if (outline.shape !== 'verification') return [];
  const { verdict, missing } = outline.verdict;
  if (verdict === 'fail' && missing === 0) {
    return [
      {
        path: 'missing_evidence',
        reason: 'verdict is "fail" but nothing is missing',
        hint: 'Try: what its author must show or mend, one entry each',
      },
    ];
  }
  if (verdict === 'pass' && missing > 0) {
    return [
      {
        path: 'missing_evidence',
        reason: `verdict is "pass" but ${missing} entries are missing`,
        hint: 'Try: verdict "fail", or an empty missing_evidence',
      },
    ];
  }
  return [];
}
