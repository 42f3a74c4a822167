import { ServiceError } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import {
  blocked,
  completed,
  decision,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** The server takes no more than 10,000 signals for an execution; one of them is the `resume` at the end. */
const count = 9_990;
const long = 'z'.repeat(1_400);

/** Everything that a broken script, or someone with bad intentions, may send. */
const bad: readonly ((run: WorkflowHandle, nth: number) => Promise<void>)[] = [
  (run, nth) => run.signal('answer', { question_id: `q${nth + 2}`, answer: long }),
  (run, nth) => run.signal('answer', { question_id: 'q1', answer: { nth, long } }),
  (run, nth) => run.signal(`no-such-signal-${nth}-${'n'.repeat(200)}`, long),
  (run) => run.signal('amend', { instruction: long.repeat(3) }),
  (run, nth) => run.signal('amend', { answers: [{ question_id: `q${nth + 2}`, answer: 'x' }] }),
  (run) => run.signal('escalate', { type: 'parked', from: run.workflowId, reason: long }),
  (run, nth) => run.signal('progress', { wave: nth, summary: long }),
  (run) => run.signal('pause', { reason: long }),
  (run) => run.signal('resume', {}),
  (run, nth) => run.signal('amend', { instruction: `Instruction ${nth}`, waive_criteria: [long] }),
];

async function sendBad(run: WorkflowHandle, from: number, to: number): Promise<void> {
  for (let sent = from; sent < to; sent += 50) {
    const batch = Array.from({ length: Math.min(50, to - sent) }, (_, index) => sent + index);
    await Promise.all(batch.map(async (nth) => bad[nth % bad.length]?.(run, nth)));
  }
}

it(`finding T4: a run takes ${count} hostile signals, and the answer after them`, async () => {
  const asks = { json: blocked([question('Which region?')], 'host-done') };
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    plans(2, plan([work('again', { criteria: ['host-done'] })])),
    works('host', asks),
    works('again', asks, 1),
    works('again', { json: completed('host-done') }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const first = await stage.start('plannerRun', { goal: 'Host the backup' }, 'flooded');
  await openQuestion(stage, first);
  const before = await first.describe();
  // Without the id of an execution: the run continues as new.
  const run = stage.client.workflow.getHandle('flooded');
  await sendBad(run, 0, count / 2);
  // The rest waits for a worker, which gets it in one workflow task.
  await stage.stopWorker();
  await sendBad(run, count / 2, count);
  await stage.startWorker();
  await run.signal('resume', {});
  await eventually(
    'all messages taken',
    async () => {
      // Its worker answers no query while it takes thousands of messages.
      const view = await stage.questions(run).catch(() => null);
      // Pauses and resumes are obeyed; the rest, but for their number, is refused.
      return (view?.rejected_total ?? 0) >= (count * 8) / bad.length;
    },
    600_000,
  );
  // The server takes 10,000 signals for an execution: the run has begun another one and repeats its work, which waits
  // for the same question.
  await eventually('the repeated work to ask', async () => {
    const view = await stage.questions(run).catch(() => null);
    return view?.open[0]?.delegation_id === 'again';
  });
  const { runId, historyLength } = await run.describe();
  expect(runId).not.toBe(before.runId);
  expect(historyLength).toBeLessThan(4 * count);
  // Another worker reads it all again.
  await stage.stopWorker();
  await stage.startWorker();
  await eventually(
    'the answer to be taken',
    async () => {
      // The server takes no update while its first workflow task on the new worker is late.
      const refused = await submit(run, { question_id: 'q1', answer: 'eu-west' }).catch(
        (error: unknown) => error,
      );
      if (refused instanceof ServiceError) return false;
      if (refused instanceof Error) throw refused;
      return true;
    },
    600_000,
  );
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
}, 1_800_000);
