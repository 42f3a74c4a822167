import type { OutputFault } from '../../contracts/output-fault.ts';
import type { TurnOutline } from '../../contracts/model-turn.ts';

/**
 * Checks a verdict beyond its shape.
 *
 * Invariants:
 *   VD1. A failure names what is missing, or refuses a note; a pass names nothing.
 *   VD2. A pass accepts every note of the author.
 */
export function checkVerdict(outline: TurnOutline): OutputFault[] {
  if (outline.shape !== 'verification') return [];
  const { verdict, missing, refused_notes: refused = [] } = outline.verdict;
  if (verdict === 'pass' && refused.length > 0) {
    return [
      {
        path: 'reviewed_notes',
        reason: `verdict is "pass" but ${refused.join(', ')} not accepted`,
        hint: 'Try: verdict "fail", or accepted true for a note that does the task no harm',
      },
    ];
  }
  if (verdict === 'fail' && missing + refused.length === 0) {
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
