/**
 * Keeps a list of faults short enough to stand beside the task in a prompt.
 */
import type { OutputFault } from '../../contracts/output-fault.ts';
import { engineLimits } from '../limits.ts';

/** The first ones, and one that says how many more there are. */
export function capFaults(faults: readonly OutputFault[]): OutputFault[] {
  const max = engineLimits.faultsShownMax;
  if (faults.length <= max) return [...faults];
  return [
    ...faults.slice(0, max - 1),
    {
      path: '',
      reason: `${faults.length - max + 1} more faults are not listed`,
      hint: 'Try: mend the listed ones first; they often have one cause',
    },
  ];
}
