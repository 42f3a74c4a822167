import { runCli } from '../../../client/cli/commands/program.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import type { RejectedAnswer } from '../../../contracts/question.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';
import { listing } from './support/samples.ts';

const rejection = (reason: string): RejectedAnswer => ({
  question_id: null,
  reason,
  example: null,
  rejected_at: 1,
});

const old = rejection('Signal amend: an old one.');

/** Carries out `amend run-1 Go on …` against a run whose rejections are these before and after. */
async function amend(options: string, after: readonly RejectedAnswer[], isLive = true) {
  let sent = 0;
  const methods: Partial<PlanwaveClient> = {
    async questions() {
      if (!isLive) return { live: false, note: 'No worker.', stuck: [], last_known: listing() };
      const rejected = sent === 0 ? [old] : after;
      const view = { open: [], answered: [], rejected, rejected_total: rejected.length };
      return { live: true, view };
    },
    async amend(_run, message) {
      sent += 1;
      return message;
    },
  };
  const io = createFakeIo();
  const code = await runCli(
    ['amend', 'run-1', 'Go on', ...options.split(' ').filter(Boolean)],
    createFakeDeps(io, methods),
  );
  return { code, out: io.out(), err: io.err(), sent };
}

it('an instruction that the run refuses ends with exit code 5 and the reason', async () => {
  const said = await amend('--waive c9', [
    old,
    rejection('Signal amend: there is no criterion "c9". Criteria are: "c1".'),
  ]);
  expect(said).toEqual({
    code: 5,
    out: '',
    err: 'The run did not take the instruction: there is no criterion "c9". Criteria are: "c1".\n',
    sent: 1,
  });
});

it.each([
  ['amend', ['Go on']],
  ['answer', ['q1', 'yes']],
])('%s of an evaluation is refused, and the text says where it belongs', async (name, words) => {
  const sent: unknown[] = [];
  const last_known = listing({ run_id: 'eval-x', workflow_type: 'evaluation' });
  const methods: Partial<PlanwaveClient> = {
    questions: async () => ({ live: false, note: 'Not here.', stuck: [], last_known }),
    amend: async (_run, message) => (sent.push(message), message),
    answer: async (_run, { question_id }) => {
      sent.push(question_id);
      return { status: 'sent', question_id, note: '' };
    },
  };
  const io = createFakeIo();
  const code = await runCli([name, 'eval-x', ...words], createFakeDeps(io, methods));
  expect({ code, out: io.out(), sent }).toEqual({ code: 5, out: '', sent: [] });
  expect(io.err()).toMatch(/^eval-x is an evaluation: its runs, .* eval-x-, .*list --waiting/);
});

it('what the run refused before, or refuses of other messages, is not laid to the instruction', async () => {
  expect((await amend('', [old])).code).toBe(0);
  expect((await amend('', [old, rejection('unknown field "question"')])).code).toBe(0);
});

it('without a worker the instruction is sent, and nothing is known of it', async () => {
  expect(await amend('--waive c9', [old], false)).toMatchObject({ code: 0, sent: 1 });
});
