import type { Recorder } from '../core/metrics/create-recorder.ts';
import { metrics } from '../core/metrics/metrics.ts';

/**
 * Creates the function that a redactor calls for each finding.
 *
 * @returns a function of the rule, the destination and the number of findings. It never gets the secret.
 */
export function createRedactionCounter(
  recorder: Recorder,
): (rule: string, sink: string, count: number) => void {
  return (rule, sink, count) => recorder.count(metrics.redactions, { rule, sink }, count);
}
