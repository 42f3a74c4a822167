import { eventually } from '../../support/eventually.ts';
import { callsOfRun, goal, untilCall } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { held } from '../../support/scripted-work.ts';
import { useOwnServer } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

const { server, stage } = useOwnServer();

it('fault 12: kill -9 of the server while one run waits for an answer and one for a call', async () => {
  const call = held({ pass: true });
  stage.rehearsal.script([{ match: { callKeyIncludes: 'calling/', nth: 3 }, reply: call.reply }]);
  const worker = await startWorkerProcess(stage);
  const waiting = await stage.start('plannerRun', { goal }, 'waiting');
  const question = await eventually('a question', async () => {
    const { open } = await stage.questions(waiting);
    return open[0];
  });
  const calling = await stage.start('plannerRun', { goal, use_defaults: true }, 'calling');
  await untilCall(stage, 'calling', 3);

  expect(await server.kill()).toBe('SIGKILL');
  // The reply comes while nobody is there to take its completion.
  call.release();
  await eventually('the reply', async () =>
    callsOfRun(stage, 'calling').every(({ outcome }) => outcome === 'answered'),
  );
  await expect(stage.status(waiting)).rejects.toThrow(/UNAVAILABLE|Failed to query|unavailable/i);
  await server.restart();

  await eventually('the server taking the answer', async () => {
    const answer = { question_id: question.question_id, answer: question.choices[1] };
    return waiting.signal('answer', answer).then(
      () => true,
      () => false,
    );
  });
  for (const run of [waiting, calling]) {
    const result = await stage.result(run);
    expect(result.status).toBe('completed');
    expect(callsOfRun(stage, run.workflowId)).toHaveLength(result.usage.calls);
    await expectPromisesKept(stage, run.workflowId);
  }
  const { answered, rejected, rejected_total } = await stage.questions(waiting);
  const given = answered.map(({ answer }) => answer);
  expect({ answered: given, rejected, rejected_total }).toEqual({
    answered: [question.choices[1]],
    rejected: [],
    rejected_total: 0,
  });
  // The worker that lived through it still serves.
  worker.signal('SIGTERM');
  expect(await worker.ended).toBe('exit code 0');
});
