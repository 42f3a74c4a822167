import type { Recorder } from '../core/metrics/create-recorder.ts';
import { metrics } from '../core/metrics/metrics.ts';

/**
 * What a redactor calls when it took something out.
 *
 * @returns a function of the rule that found it, where it would have gone, and how many there were. It never gets the
 * secret.
 */
export function createRedactionCounter(
  recorder: Recorder,
): (rule: string, sink: string, count: number) => void {
  return (rule, sink, count) => recorder.count(metrics.redactions, { rule, sink }, count);
}
