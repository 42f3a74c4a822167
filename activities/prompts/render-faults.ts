import type { OutputFault } from '../../contracts/output-fault.ts';
import { jsonBlock } from './blocks.ts';

/** Sends an output back to whoever gave it, with everything that is wrong with it. */
export function renderFaults(faults: readonly OutputFault[]): string {
  const shown = faults.map(({ path, reason, hint }) => ({ path, reason, hint }));
  return `${jsonBlock('faults', shown)}
Your last output was not taken, for the faults listed here. Mend every one and give the whole output again, as one JSON object in the shape asked for. Change nothing else without need, and claim nothing that was not done.`;
}
