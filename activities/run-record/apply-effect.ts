import type { RecordedEffect } from '../../contracts/effect.ts';
import type { RunRecord } from '../../contracts/run-record.ts';

/** Replaces the effect's earlier report by the new one. A known result is not replaced by a mere intention. */
export function applyEffect(record: RunRecord, effect: RecordedEffect): RunRecord {
  const effects = record.effects ?? [];
  const before = effects.find((one) => one.effect_id === effect.effect_id);
  if (before === undefined) return { ...record, effects: [...effects, effect] };
  if (effect.state === 'intended' && before.state !== 'intended') return record;
  return { ...record, effects: effects.map((one) => (one === before ? effect : one)) };
}

/** Marks open effects as unverified at the end of a run, when their results can't become known any more. */
export function endEffects(record: RunRecord, now: number): RunRecord {
  if (record.effects === undefined) return record;
  return {
    ...record,
    effects: record.effects.map((one) =>
      one.state === 'intended'
        ? {
            ...one,
            state: 'unverified',
            reason: 'The run ended before anybody knew.',
            updated_at: now,
          }
        : one,
    ),
  };
}
