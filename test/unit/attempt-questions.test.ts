import type { DeliveredAnswer } from '../../contracts/messages.ts';
import { AttemptQuestions } from '../../workflows/planner-wave/attempt-questions.ts';
import { asked, escalation } from './core/builders.ts';

/** The questions of delegation d1, with what goes up to the inbox. */
function openAttempts() {
  const puts: string[] = [];
  const withdrawn: string[] = [];
  const answers = new Map<string, (answers: readonly DeliveredAnswer[]) => void>();
  const questions = new AttemptQuestions((_delegationId, id) => void withdrawn.push(id));
  const ask = (escalation_id: string, text: string, kind: 'blocking' | 'verification') =>
    questions.putOnce(
      'd1',
      escalation(escalation_id, [asked({ text })], { kind }),
      { escalation_id, isGone: false },
      (id) => {
        puts.push(id);
        return new Promise((resolve) => void answers.set(id, resolve));
      },
    );
  return {
    questions,
    puts,
    withdrawn,
    ask: (id: string, text: string) => ask(id, text, 'blocking'),
    verify: (id: string, text: string) => ask(id, text, 'verification'),
    /** Answers what is known under an id, and lets all that waits for it go on. */
    async answer(id: string) {
      answers.get(id)?.([]);
      await Promise.resolve();
    },
  };
}

it('what the crashed attempt asked is not put again, whatever its number is now', () => {
  const d = openAttempts();
  void d.ask('d1#1', 'Which year?');
  const first = d.ask('d1#2', 'Which region?');
  d.questions.beginAnew('d1');
  expect(d.ask('d1#1', 'Which region?')).toBe(first);
  expect(d.puts).toEqual(['d1#1', 'd1#2']);
  expect(d.withdrawn).toEqual([]);
});

it('what no attempt asked is put under an id that no open question has, and the one that had it is withdrawn', () => {
  const d = openAttempts();
  void d.ask('d1#1', 'Which region?');
  d.questions.beginAnew('d1');
  void d.ask('d1#1', 'Which cities?');
  d.questions.beginAnew('d1');
  void d.ask('d1#1', 'Which streets?');
  expect(d.puts).toEqual(['d1#1', 'd1#1~2', 'd1#1~3']);
  expect(d.withdrawn).toEqual(['d1#1', 'd1#1~2']);
});

it('the id of a question that was taken over under another number is not free either', () => {
  const d = openAttempts();
  void d.ask('d1#1', 'Which year?');
  void d.ask('d1#2', 'Which region?');
  d.questions.beginAnew('d1');
  void d.ask('d1#1', 'Which region?');
  void d.ask('d1#2', 'Which cities?');
  expect(d.puts).toEqual(['d1#1', 'd1#2', 'd1#2~2']);
  // The attempt at work still waits for it.
  expect(d.withdrawn).toEqual([]);
});

it('an answered question leaves its id, and its answers to whoever asks the same', async () => {
  const d = openAttempts();
  const first = d.ask('d1#1', 'Which region?');
  await d.answer('d1#1');
  d.questions.beginAnew('d1');
  void d.ask('d1#1', 'Which cities?');
  expect(d.puts).toEqual(['d1#1', 'd1#1']);
  expect(d.withdrawn).toEqual([]);
  expect(d.ask('d1#2', 'Which region?')).toBe(first);
});

it('a question whose asker is gone keeps its id, for whose answers a waiter stays', () => {
  const d = openAttempts();
  void d.ask('d1#1', 'Which region?');
  expect(d.questions.drop('d1', 'd1#2')).toBeNull();
  expect(d.questions.drop('d1', 'd1#1')).toBe('d1#1');
  d.questions.beginAnew('d1');
  void d.ask('d1#1', 'Which region?');
  expect(d.puts).toEqual(['d1#1', 'd1#1~2']);
  expect(d.questions.drop('d1', 'd1#1')).toBe('d1#1~2');
});

it('a question about failed verifications is known by its number', () => {
  const d = openAttempts();
  const first = d.verify('d1#v1', 'It failed at 10:00.');
  d.questions.beginAnew('d1');
  expect(d.verify('d1#v1', 'It failed at 11:00.')).toBe(first);
});
