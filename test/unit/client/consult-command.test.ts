import { runCli } from '../../../client/cli/commands/program.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';
import { noUsage } from './support/samples.ts';
import type { ConsultationInput } from '../../../contracts/design-run.ts';

const amendment = 'Restore a tenth before anything is ordered.';

function play(answer = 'By cost.') {
  const asked: ConsultationInput[] = [];
  const sent: string[] = [];
  const methods: Partial<PlanwaveClient> = {
    async consult(input) {
      asked.push(input);
      return { agent_id: 'workflow-designer', answer, amendment, usage: noUsage };
    },
    async amend(_run, message) {
      sent.push(message.instruction);
      return message;
    },
  };
  return { asked, sent, methods };
}

it('planwave talk sends an instruction only after a yes, and each question with what was said before', async () => {
  const { asked, sent, methods } = play();
  const io = createFakeIo({ isTerminal: true });
  io.typeAfter('Enter alone ends', 'Why this order?');
  io.typeAfter('Enter alone: no', 'no');
  io.typeAfter('Enter alone ends', 'Test the restore first.');
  io.typeAfter('Enter alone: no', 'yes');
  io.typeAfter('Enter alone ends', 'And the order?');
  io.typeAfter('Enter alone: no', 'no');
  io.typeAfter('Enter alone ends', '');
  expect(await runCli(['talk', 'run-1', 'designer'], createFakeDeps(io, methods))).toBe(0);
  expect(asked.map(({ role }) => role)).toEqual(['designer', 'designer', 'designer']);
  expect(asked[0]?.question).toBe('Why this order?');
  expect(asked[1]?.question).toMatch(
    /^Before:\nUser: Why this order\?\nYou: By cost\.\n.*\n.*\n\nNow the user asks: Test the restore first\.$/,
  );
  // It knows its own words, and what became of them.
  expect(asked[1]?.question).toContain(`You worded: ${amendment}\nThe user did not send it.`);
  expect(asked[2]?.question).toContain(`You worded: ${amendment}\nThe user sent it.`);
  expect(sent).toEqual([amendment]);
  expect(io.out()).toContain(`Send this to the run as your instruction?\n  ${amendment}`);
});

it('planwave talk leaves out what was said before a question without room for it, and asks again for a shorter one', async () => {
  const { asked, methods } = play();
  const io = createFakeIo({ isTerminal: true });
  for (const [question, decision] of [
    ['Why this order?', 'no'],
    ['y'.repeat(11_990), 'no'],
    ['z'.repeat(12_001), null],
    ['And then?', 'no'],
    ['', null],
  ] as const) {
    io.typeAfter('Enter alone ends', question);
    if (decision !== null) io.typeAfter('Enter alone: no', decision);
  }
  expect(await runCli(['talk', 'run-1', 'designer'], createFakeDeps(io, methods))).toBe(0);
  expect(asked.map(({ question }) => question.slice(-9))).toEqual([
    'is order?',
    'y'.repeat(9),
    'And then?',
  ]);
  expect(asked.map(({ question }) => question.length <= 12_000)).toEqual([true, true, true]);
  expect(io.out()).toContain(
    'The question has 12001 characters; at most 12000 fit. Try: a shorter',
  );
});

it('planwave talk needs a terminal, and planwave ask a known role, a question, and room for it', async () => {
  const { asked, methods } = play();
  const run = async (...argv: string[]) => {
    const io = createFakeIo();
    return { code: await runCli(argv, createFakeDeps(io, methods)), err: io.err() };
  };
  expect(await run('talk', 'run-1', 'designer')).toMatchObject({
    code: 2,
    err: expect.stringContaining('planwave -- ask run-1 designer'),
  });
  expect((await run('ask', 'run-1', 'boss', 'Why?')).err).toContain(
    '"designer", "verifier", "risk"',
  );
  expect((await run('ask', 'run-1', 'risk', ' ')).err).toContain('The question is empty.');
  expect((await run('ask', 'run-1', 'risk', 'x'.repeat(12_001))).err).toContain('at most 12000');
  expect(asked).toEqual([]);
});

it('the paragraphs of an answer stay apart, and its lists keep their indentation', async () => {
  const answer = 'By cost.\n\n- tables\n  - indexes\n\nThen the API.\n';
  const io = createFakeIo();
  const { methods } = play(answer);
  expect(await runCli(['ask', 'run-1', 'designer', 'Why?'], createFakeDeps(io, methods))).toBe(0);
  expect(io.out()).toContain(answer);
});
