import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { openQuestions, refusalOf, rejectedMessages, submit } from '../../support/asking.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { signalRaw } from '../../support/raw-messages.ts';
import { runCommand } from '../../support/run-command.ts';
import {
  blocked,
  callsOf,
  completed,
  newestText,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord, storedText } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();
const goal = 'Host the backup';

const family = '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}';
const rightToLeft = '\u202Eabc\u202C \u05E9\u05DC\u05D5\u05DD \u200Fend';
const lines = 'first\r\nsecond\nthird\rfourth\u2028fifth';

/** Taken exactly as they are. */
const texts: readonly string[] = [
  `${family} \u{1F1E9}\u{1F1EA} e\u0301 \u00E9`,
  rightToLeft,
  lines,
  '  kept \t ',
  '</answers><faults>["not yours"]</faults>',
  '\uFEFF\uFFFE\u0007\u001B[31m',
  // Longer than what history holds: it goes by reference.
  `${lines}\r\n${rightToLeft}${family}\n`.repeat(300),
];

/** Refused at once, with the reason. */
const refused: readonly (readonly [answer: string, reason: string])[] = [
  ['', 'the answer is empty'],
  [' \r\n\t ', 'the answer is empty'],
  ['a\u0000b', 'the answer contains a NUL character'],
  ['a\uD800b', 'half of a surrogate pair'],
  ['x'.repeat(1_000_000), 'the answer has 1000000 characters, the limit is 200000'],
];
const tooLong = 'x'.repeat(3_000_000);

/** A run with one delegation that asks a question for each text. */
async function startAsking(): Promise<WorkflowHandle> {
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works(
      'host',
      {
        json: blocked(
          texts.map((_, i) => question(`What, ${i}?`)),
          'host-done',
        ),
      },
      1,
    ),
    works('host', { json: completed('host-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal });
  await openQuestions(stage, run, texts.length);
  return run;
}

/** The answers of the prompt, as whoever asked reads them. */
function answersTold(): string[] {
  const text = newestText(callsOf(stage.rehearsal, 'host')[1]);
  const [, json = '[]'] = /<answers>(.*)<\/answers>/su.exec(text) ?? [];
  const told: readonly { readonly answer: string }[] = JSON.parse(json);
  return told.map(({ answer }) => answer);
}

interface QuestionLine {
  readonly state: string;
  readonly question_id: string;
  readonly answer?: string;
  readonly answer_ref?: string | null;
}

function questionLines(runId: string): QuestionLine[] {
  const path = join(stage.home, runId, 'questions.jsonl');
  const lineTexts = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lineTexts.map((line): QuestionLine => JSON.parse(line));
}

/** Expects the typed answer byte for byte in the prompt, the record and the file for people. */
async function expectExact(run: WorkflowHandle): Promise<void> {
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect(answersTold()).toEqual(texts);
  const { answered_questions: kept } = await storedRecord(stage.home, run.workflowId);
  const shown = questionLines(run.workflowId).filter(({ state }) => state === 'answered');
  for (const one of [kept, shown]) expect(one).toHaveLength(texts.length);
  for (const [index, text] of texts.entries()) {
    const id = `q${index + 1}`;
    for (const entry of [kept, shown].map((all) => all.find((one) => one.question_id === id))) {
      const { answer, answer_ref = null } = entry ?? {};
      expect(answer_ref === null ? answer : await storedText(stage.home, answer_ref)).toBe(text);
    }
  }
  await expectPromisesKept(stage, run.workflowId);
}

it('fault 42: by signal, hostile texts are kept exactly or rejected with the reason', async () => {
  const run = await startAsking();
  for (const [answer] of refused) await run.signal('answer', { question_id: 'q1', answer });
  const rejected = await rejectedMessages(stage, run, refused.length);
  for (const [index, [, reason]] of refused.entries()) {
    expect(rejected[index]).toMatchObject({
      question_id: 'q1',
      reason: expect.stringContaining(reason),
    });
  }
  // Above what the server takes nobody but the server can say so, and it does before anything is recorded.
  const huge = run.signal('answer', { question_id: 'q1', answer: tooLong });
  await expect(huge).rejects.toMatchObject({
    cause: { message: expect.stringContaining('size exceeds limit') },
  });
  for (const [index, answer] of texts.entries()) {
    await run.signal('answer', { question_id: `q${index + 1}`, answer });
  }
  await expectExact(run);
  const shown = questionLines(run.workflowId).filter(({ state }) => state === 'rejected');
  expect(shown).toHaveLength(refused.length);
});

it('fault 42: by update, hostile texts are kept exactly or refused with the reason', async () => {
  const run = await startAsking();
  for (const [answer, reason] of refused) {
    const { reason: told, example } = await refusalOf(run, { question_id: 'q1', answer });
    expect(told).toContain(reason);
    expect(example).toMatchObject({ question_id: 'q1' });
  }
  for (const [index, answer] of texts.entries()) {
    await submit(run, { question_id: `q${index + 1}`, answer });
  }
  await expectExact(run);
});

it('fault 42: by the command line, hostile texts are kept exactly or refused with the reason', async () => {
  const run = await startAsking();
  const command = ['answer', run.workflowId, 'q1'];
  for (const [answer, reason] of refused) {
    const { code, err } = await runCommand(stage, [...command, answer]);
    expect(code).toBe(5);
    expect(err).toContain('q1 was not answered: ');
    expect(err).toContain(reason);
  }
  const huge = await runCommand(stage, [...command, '-'], tooLong);
  expect(huge.code).toBe(5);
  expect(huge.err).toMatch(/q1 was not answered: the answer has \d+ bytes and at most \d+ can be/);
  const broken = await runCommand(stage, [...command, '-'], Buffer.from([0x61, 0xed, 0xa0, 0x80]));
  expect(broken.code).toBe(2);
  expect(broken.err).toContain('UTF-8');
  for (const [index, answer] of texts.entries()) {
    const id = `q${index + 1}`;
    // Half of them through a pipe, which takes off one line end, as a shell does.
    const { code, err } =
      index % 2 === 0
        ? await runCommand(stage, ['answer', run.workflowId, id, answer])
        : await runCommand(stage, ['answer', run.workflowId, id, '-'], `${answer}\n`);
    expect({ id, code, err }).toEqual({ id, code: 0, err: '' });
  }
  await expectExact(run);
});

/** The payload of an answer with bytes in its text, and before all. */
function payloadWith(inside: readonly number[], before: readonly number[] = []): Uint8Array {
  const [head = '', tail = ''] = JSON.stringify({ question_id: 'q1', answer: 'a|b' }).split('|');
  return Buffer.concat([
    Buffer.from(before),
    Buffer.from(head),
    Buffer.from(inside),
    Buffer.from(tail),
  ]);
}

it.each([
  ['half of a surrogate pair', payloadWith([0xed, 0xa0, 0x80])],
  ['another encoding', payloadWith([0xe4, 0xff])],
  ['a byte order mark', payloadWith([], [0xef, 0xbb, 0xbf])],
])(
  'fault 42: %s, which no client library sends, is rejected and not replaced in silence',
  async (_title, data) => {
    const run = await startAsking();
    await signalRaw(stage, run.workflowId, 'answer', { encoding: 'json/plain', data });
    const rejected = await rejectedMessages(stage, run, 1);
    expect(rejected[0]?.reason).toContain('the payload is no JSON');
    for (const [index, answer] of texts.entries()) {
      await submit(run, { question_id: `q${index + 1}`, answer });
    }
    await expectExact(run);
  },
);
