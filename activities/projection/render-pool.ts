import type { RunRecord } from '../../contracts/run-record.ts';
import { renderJsonLines } from './render-json.ts';

/** `pool.jsonl`: every fact of the run, in the order of recording. */
export function renderPool(record: RunRecord): string {
  return renderJsonLines(record.facts);
}
