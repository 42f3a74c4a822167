import { askInTerminal, chooseQuestion } from '../../../client/cli/ask/ask-in-terminal.ts';
import { createFakeIo } from './support/fake-io.ts';
import { question } from './support/samples.ts';

it('gives the answer in the type that is asked for', async () => {
  const io = createFakeIo();
  io.typeAfter('> ', 'yes');
  const asked = question({ expected_answer_format: 'boolean' });
  expect(await askInTerminal(asked, io)).toEqual({ answer: true });
  expect(io.out()).toContain('Which region?');
});

it('takes the default without a signature where only others may decide', async () => {
  const asked = { ...question({ default_answer: 'yes' }), approvers: ['Ana'] };
  for (const [signer, given] of [
    ['Ben', { answer: 'yes', as_default: true }],
    ['Ana', { answer: 'yes' }],
  ] as const) {
    const io = createFakeIo();
    io.typeAfter('Enter takes the default', '');
    // One prompt after the other.
    // oxlint-disable-next-line no-await-in-loop
    expect(await askInTerminal(asked, io, { signer })).toEqual(given);
  }
});

it('takes the default at Enter alone', async () => {
  const io = createFakeIo();
  io.typeAfter('Enter takes the default', '');
  const asked = question({ expected_answer_format: 'number', default_answer: '3' });
  // It is the user's answer all the same: agents rely on it.
  expect(await askInTerminal(asked, io)).toEqual({ answer: 3 });
});

it('gives nothing at Enter alone without a default, and at the end of the input', async () => {
  const io = createFakeIo();
  io.typeAfter('Enter alone leaves it open', '');
  expect(await askInTerminal(question(), io)).toBeUndefined();
  const ended = createFakeIo();
  ended.stdin.end();
  expect(await askInTerminal(question(), ended)).toBeUndefined();
});

it('gives nothing when the question is taken back', async () => {
  const io = createFakeIo();
  const takeBack = new AbortController();
  const asking = askInTerminal(question(), io, { signal: takeBack.signal });
  takeBack.abort();
  expect(await asking).toBeUndefined();
});

it('lets the user pick one of several questions, by id or number', async () => {
  const io = createFakeIo();
  const questions = [question(), question({ question_id: 'q7' })];
  io.typeAfter('Which one?', 'q3');
  io.typeAfter('Which one?', '7');
  expect(await chooseQuestion(questions, io)).toBe(questions[1]);
  expect(io.out()).toContain('There is no open question q3.');
});
