import type { ModelTurnResult } from '../../contracts/model-turn.ts';
import { checkUnchangedPaths } from '../../core/output/check-evidence.ts';
import { placeOf } from '../tools/place-of.ts';
import type { ReadingAttempt } from './make-reads.ts';

/**
 * Compares what an output names as unchanged with the files of the caller's copy, and adds a fault for each path where they
 * differ from the user's. An output that names none is returned as it is.
 */
export async function checkUnchanged(
  { deps, input, context }: Omit<ReadingAttempt, 'onCall'>,
  result: ModelTurnResult,
): Promise<ModelTurnResult> {
  const { reply } = result;
  if (reply.type !== 'output' || !('output' in reply.outline)) return result;
  const { outline } = reply;
  const { coverage, text_faults } = outline.output;
  if (coverage.criteria_met.every(({ where }) => where.kind !== 'unchanged')) return result;
  const { run_id, delegation_id = '', reading } = input;
  const touched =
    reading === undefined
      ? null
      : await deps.worktrees.listTouched(
          await placeOf({
            store: deps.store,
            run_id,
            delegation_id,
            builds_on: reading.upstream.map((one) => one.delegation_id),
            record_ref: reading.record_ref,
            signal: context.cancellationSignal,
          }),
        );
  const faults = checkUnchangedPaths(coverage, touched?.map(({ path }) => path) ?? null);
  const output = { ...outline.output, text_faults: [...text_faults, ...faults] };
  return { ...result, reply: { ...reply, outline: { ...outline, output } } };
}
