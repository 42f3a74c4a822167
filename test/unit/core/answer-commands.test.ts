import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { checkAnswer } from '../../../core/questions/check-answer.ts';
import { answerCommands } from '../../../core/render/questions.ts';
import { property, question } from './builders.ts';
import { quoteWord } from '../../../core/text/format.ts';

const choice = question({ expected_answer_format: 'choice', choices: ["it's", 'b'] });

/** Splits a command line into words as a shell does. */
function wordsOf(command: string): string[] {
  const script = `for w in ${command}; do printf '%s\\0' "$w"; done`;
  return execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe('commands', () => {
  it('CM1: every word reaches its program exactly', () => {
    const words = fc
      .string({ unit: 'binary', minLength: 1 })
      .filter((w) => !w.includes('\0') && !/\p{Surrogate}/u.test(w));
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 10 }), (all) => {
        expect(wordsOf(all.map(quoteWord).join(' '))).toEqual(all);
      }),
      { ...property, numRuns: 20 },
    );
    const hostile = 'r\'; rm -rf ~; echo `id` $(id) "';
    const [client = '', signal = ''] = answerCommands(hostile, choice);
    expect(wordsOf(client).slice(4)).toEqual(['answer', hostile, 'q1', "it's"]);
    const sent = wordsOf(signal);
    expect(sent[sent.indexOf('--workflow-id') + 1]).toBe(hostile);
    expect(JSON.parse(sent.at(-1) ?? '')).toEqual({ question_id: 'q1', answer: "it's" });
  });

  it('CM1: a negative number is no option', () => {
    const minus = question({ expected_answer_format: 'number', default_answer: '-3' });
    expect(answerCommands('r', minus)[0]).toBe('npm run planwave -- answer r q1 -- -3');
  });

  it('CM2: the answer in the command is one that the question takes', () => {
    expect(answerCommands('my-run', question())).toEqual([
      "npm run planwave -- answer my-run q1 'your answer'",
      `temporal workflow signal --workflow-id my-run --name answer --input '{"question_id":"q1","answer":"your answer"}'`,
    ]);
    const guarded = { ...question(), approvers: ['Ana'] };
    expect(answerCommands('my-run', guarded)).toEqual([
      "npm run planwave -- answer my-run q1 --as Ana 'your answer'",
      `temporal workflow signal --workflow-id my-run --name answer --input '{"question_id":"q1","answer":"your answer","answered_by":"Ana"}'`,
    ]);
    const odd = question({ expected_answer_format: 'choice', choices: ['a\u202eb', 'c\nd'] });
    expect(answerCommands('r', odd)[0]).toBe('npm run planwave -- answer r q1 1');
    expect(checkAnswer(odd, '1').ok).toBe(true);
    const json = question({
      expected_answer_format: 'json',
      answer_schema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
    });
    expect(answerCommands('r', json)[0]).toBe(`npm run planwave -- answer r q1 '{"n":1}'`);
  });
});
