import type { RecordedEffect } from '../../contracts/effect.ts';
import type { SessionReport } from '../../contracts/note.ts';
import type { EventOf } from '../../contracts/run-log.ts';
import type { RunRecord } from '../../contracts/run-record.ts';

/** Report about effects and sessions. Each replaces the earlier ones of the same effect or session. */
export type ReportEvent = EventOf<'effect' | 'session' | 'archival' | 'archived'>;

/** Returns the record after a report. It takes nothing back that others built on. */
export function foldReport(record: RunRecord, event: ReportEvent): RunRecord {
  switch (event.type) {
    case 'effect':
      return takeEffect(record, event.effect);
    case 'session':
      return takeSession(record, event.session);
    case 'archival':
      return { ...record, archival: event.result };
    case 'archived':
      return { ...record, archived_by: event.by };
  }
}

/** Replaces the effect's earlier report by the new one. A known result is not replaced by a mere intention. */
function takeEffect(record: RunRecord, effect: RecordedEffect): RunRecord {
  const effects = record.effects ?? [];
  const before = effects.find((one) => one.effect_id === effect.effect_id);
  if (before === undefined) return { ...record, effects: [...effects, effect] };
  if (effect.state === 'intended' && before.state !== 'intended') return record;
  return { ...record, effects: effects.map((one) => (one === before ? effect : one)) };
}

/** Marks open effects as unverified at the end of a run, when their results can't become known any more. */
export function endEffects(record: RunRecord, now: number): RunRecord {
  if (record.effects === undefined) return record;
  const reason = 'The run ended before anybody knew.';
  return {
    ...record,
    effects: record.effects.map((one) =>
      one.state === 'intended' ? { ...one, state: 'unverified', reason, updated_at: now } : one,
    ),
  };
}

function takeSession(record: RunRecord, session: SessionReport): RunRecord {
  const { sessions = [] } = record;
  const isSame = (one: SessionReport): boolean => one.delegation_id === session.delegation_id;
  const next = sessions.some(isSame)
    ? sessions.map((one) => (isSame(one) ? session : one))
    : [...sessions, session];
  return { ...record, sessions: next };
}
