import type { RunRecord } from '../../contracts/run-record.ts';
import { renderJsonLines } from './render-json.ts';

/** `effects.jsonl`: what tools changed outside, or were to change, in the order of the calls. */
export function renderEffects(record: RunRecord): string {
  return renderJsonLines(record.effects ?? []);
}
