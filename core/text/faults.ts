/** Faults: a list kept short enough to stand beside the task in a prompt, and one as a line. */
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

/** Words a fault of one call for the model: `path: reason. Try: …`. */
export function describeFault({ path, reason, hint }: OutputFault): string {
  return [path === '' ? reason : `${path}: ${reason}`, hint].filter((one) => one !== '').join('. ');
}
