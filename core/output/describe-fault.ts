import type { OutputFault } from '../../contracts/output-fault.ts';

/** Words a fault of one call for the model: `path: reason. Try: …`. */
export function describeFault({ path, reason, hint }: OutputFault): string {
  return [path === '' ? reason : `${path}: ${reason}`, hint].filter((one) => one !== '').join('. ');
}
