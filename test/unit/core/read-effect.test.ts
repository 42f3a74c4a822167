import * as fc from 'fast-check';
import type { RecordedEffect } from '../../../contracts/effect.ts';
import { checkEscalation, readEffect } from '../../../core/run/read-messages.ts';

const effect: RecordedEffect = {
  effect_id: 'build/effect-1',
  wave: 1,
  delegation_id: 'build',
  agent_id: 'engineer',
  tool: 'write_file',
  arguments_ref: 'a'.repeat(64),
  state: 'confirmed',
  target: 'a.md',
  receipt: { target: 'a.md', sha256: 'b'.repeat(64), bytes: 3, replaced_ref: 'c'.repeat(64) },
  reason: '',
  approval_question_id: 'q1',
  updated_at: 1_760_000_000,
};

it('a report of ours comes back as it was sent, with the fields we know', () => {
  expect(readEffect({ ...effect, more: 1 })).toEqual(effect);
  const bare = { ...effect, receipt: null, approval_question_id: null };
  expect(readEffect(bare)).toEqual(bare);
  const removed = {
    ...effect,
    receipt: { target: 'a.md', sha256: 'b'.repeat(64), bytes: 0, removed: true },
  };
  expect(readEffect(removed)).toEqual(removed);
  expect(checkEscalation({ type: 'effect', from: 'run/wave-001/build', effect })).toEqual({
    type: 'effect',
    from: 'run/wave-001/build',
    effect,
  });
});

it('WM2: what no workflow of ours sends is none', () => {
  const fields = Object.keys(effect);
  for (const field of fields) {
    for (const bad of [undefined, {}, [], true, -1]) {
      expect(readEffect({ ...effect, [field]: bad })).toBeNull();
    }
  }
  expect(readEffect({ ...effect, state: 'done' })).toBeNull();
  expect(readEffect({ ...effect, arguments_ref: '../secret' })).toBeNull();
  expect(readEffect({ ...effect, receipt: { target: 'a', sha256: 'b', bytes: 1 } })).toBeNull();
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(readEffect(value)).toBeNull();
      expect(checkEscalation({ type: 'effect', from: 'a', effect: value })).toBeNull();
    }),
  );
});

it('long texts of a report are cut: they travel into the record', () => {
  const long = readEffect({ ...effect, reason: 'x'.repeat(100_000) });
  expect(long?.reason.length).toBeLessThanOrEqual(1_000);
});
