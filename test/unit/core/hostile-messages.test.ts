import type { RecordChange } from '../../../contracts/run-record.ts';
import { engineLimits } from '../../../core/limits.ts';
import { openInbox, stepInbox } from '../../../core/questions/step-inbox.ts';
import type { InboxState } from '../../../core/questions/step-inbox.ts';
import { takeChanges } from '../../../core/run/news.ts';
import { noticeLongHistory } from '../../../core/text/format.ts';
import { asked, escalation, usualRules } from './builders.ts';

const rejection = (chars: number): RecordChange => ({
  type: 'answer_rejected',
  rejected: { question_id: null, reason: 'x'.repeat(chars), example: null, rejected_at: 1 },
});

/** Splits a queue into the writes that it becomes. */
function writesOf(queue: readonly RecordChange[]): (readonly RecordChange[])[] {
  const writes: (readonly RecordChange[])[] = [];
  for (let rest = queue; rest.length > 0; rest = rest.slice(writes.at(-1)?.length)) {
    writes.push(takeChanges(rest));
  }
  return writes;
}

/** Refuses many long messages. */
function flood(count: number): { state: InboxState; recorded: number } {
  let state = openInbox(null);
  let recorded = 0;
  for (let n = 0; n < count; n += 1) {
    const step = stepInbox(state, { type: 'refuse', reason: 'y'.repeat(100_000), now: n });
    state = step.state;
    recorded += step.effects.filter(
      (effect) => effect.type === 'rejected' && effect.isRecorded,
    ).length;
  }
  return { state, recorded };
}

describe('finding T4: what is written at once', () => {
  it('finding T4: 700 long rejections take several writes, in order and each below half a payload', () => {
    const queue = Array.from({ length: 700 }, (_, n) => rejection(3_400 + n));
    const writes = writesOf(queue);
    expect(writes.flat()).toEqual(queue);
    expect(writes.length).toBeGreaterThan(10);
    for (const write of writes) {
      expect(3 * JSON.stringify(write).length).toBeLessThan(engineLimits.payloadBytesMax / 2);
    }
  });

  it('finding T4: many small changes are bounded by their number, and a large one is still taken', () => {
    expect(takeChanges(Array.from({ length: 2_000 }, () => rejection(1)))).toHaveLength(
      engineLimits.recordChangesMax,
    );
    const large = rejection(2 * engineLimits.recordChangeCharsMax);
    expect(takeChanges([large, large])).toEqual([large]);
    expect(takeChanges([])).toEqual([]);
  });
});

describe('finding T4: the inbox in a flood', () => {
  it('finding T4: beyond a number, refused messages are counted and no longer recorded', () => {
    const { state, recorded } = flood(1_000);
    expect(recorded).toBe(engineLimits.rejectedAnswersRecordedMax);
    expect(state.rejected_total).toBe(1_000);
    expect(state.rejected).toHaveLength(engineLimits.rejectedAnswersMax);
    expect(JSON.stringify(state).length).toBeLessThan(30_000);
  });

  it("finding T4: IN7: the engine's own questions are bounded, and have room when agents' questions take theirs", () => {
    const long = asked({ text: 'z'.repeat(1_900), why_it_matters: 'z'.repeat(900) });
    const ask = (state: InboxState, n: number, kind: 'planner' | 'budget'): InboxState =>
      stepInbox(state, {
        type: 'ask',
        escalation: escalation(
          `${kind}${n}`,
          Array.from({ length: 20 }, (_, nth) => ({ ...long, text: `${n} ${nth} ${long.text}` })),
          { kind },
        ),
        now: 1,
        use_defaults: false,
        autonomy: 'ask',
        rules: usualRules,
      }).state;
    let state = openInbox(null);
    for (let n = 0; n < 14; n += 1) state = ask(state, n, 'planner');
    const agents = state.open.length;
    for (let n = 0; n < 14; n += 1) state = ask(state, n, 'budget');
    expect(state.open.length).toBeGreaterThan(agents);
    expect(JSON.stringify(state).length).toBeLessThan(
      2 * (engineLimits.inboxCharsMax + engineLimits.inboxReserveChars),
    );
  });
});

describe('finding T4: a history that grows', () => {
  it('finding T4: people are warned before the server ends the run', () => {
    expect(noticeLongHistory(10_239, 1_000)).toBeNull();
    expect(noticeLongHistory(10_240, 1_000)).toContain('10240 events');
    expect(noticeLongHistory(1, 11 * 1_048_576)).toContain('11.0 MB');
  });
});
