import { msToTs } from '@temporalio/common/lib/time.js';
import { runCli } from '../../../client/cli/commands/program.ts';
import {
  createPlanwaveClient,
  type PlanwaveClient,
  type PlanwaveClientOptions,
} from '../../../client/planwave-client.ts';
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

/** Connection to a server that knows one evaluation. Nothing else may be asked of it. */
function connectionOfEvaluation(): PlanwaveClientOptions['connection'] {
  const workflowExecutionInfo = {
    execution: { workflowId: 'eval-x', runId: 'r' },
    type: { name: 'evaluation' },
    status: 1,
    taskQueue: 'planwave',
    historyLength: msToTs(1_000).seconds,
    startTime: msToTs(1_000),
  };
  return Object.assign(Object.create(null), {
    plugins: [],
    withDeadline: (_deadline: number, work: () => unknown) => work(),
    workflowService: {
      describeWorkflowExecution: async () => ({ workflowExecutionInfo }),
    },
  });
}

it('an instruction or an answer to an evaluation is refused before it is sent, also by the library', async () => {
  const client = createPlanwaveClient({
    connection: connectionOfEvaluation(),
    address: 'localhost:7233',
    namespace: 'default',
  });
  const refusal = {
    code: 'refused',
    message: expect.stringMatching(
      /^eval-x is an evaluation: its runs, .* eval-x-, .*-- questions, /,
    ),
  };
  await expect(client.amend('eval-x', { instruction: 'Go on' })).rejects.toMatchObject(refusal);
  const answer = { question_id: 'q1', answer: 'yes' };
  await expect(client.answer('eval-x', answer)).rejects.toMatchObject(refusal);
  const asked = client.answer('eval-x', answer, { workerIsAway: true });
  await expect(asked).rejects.toMatchObject(refusal);
});

it('an answer to an evaluation is not asked for', async () => {
  const last_known = listing({ run_id: 'eval-x', workflow_type: 'evaluation' });
  const questions: PlanwaveClient['questions'] = async () => {
    return { live: false, note: 'Not here.', stuck: [], last_known };
  };
  const io = createFakeIo();
  expect(await runCli(['answer', 'eval-x'], createFakeDeps(io, { questions }))).toBe(5);
  expect(io.err()).toMatch(/^eval-x is an evaluation: its runs, /);
});

it('what the run refused before, or refuses of other messages, is not laid to the instruction', async () => {
  expect((await amend('', [old])).code).toBe(0);
  expect((await amend('', [old, rejection('unknown field "question"')])).code).toBe(0);
});

it('without a worker the instruction is sent, and nothing is known of it', async () => {
  expect(await amend('--waive c9', [old], false)).toMatchObject({ code: 0, sent: 1 });
});
