import type { OutputFault } from '../../contracts/output-fault.ts';

/** `path: reason. Try: …`, as a model is told it of one call. */
export function describeFault({ path, reason, hint }: OutputFault): string {
  return [path === '' ? reason : `${path}: ${reason}`, hint].filter((one) => one !== '').join('. ');
}
