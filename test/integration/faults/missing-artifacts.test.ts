import { cpSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
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

it('finding L3: a run whose artifacts are gone parks with path, cause and fix, and goes on once they are back', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: blocked([question('Which region?')], 'host-done') }, 1),
    works('host', { json: completed('host-done') }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await stage.start('plannerRun', { goal: 'Host the backup' });
  await openQuestion(stage, run);
  // The next worker has the home, but nothing in its store; and it remembers nothing.
  await stage.stopWorker();
  const segments = join(stage.home, 'segments');
  const aside = join(stage.home, 'aside');
  renameSync(segments, aside);
  mkdirSync(segments);
  await stage.startWorker();
  await submit(run, { question_id: 'q1', answer: 'eu-west' });
  const { parked_reason } = await eventually('the parked run', async () => {
    const status = await stage.status(run);
    return status.phase === 'parked' && status;
  });
  expect(parked_reason).toContain(segments);
  expect(parked_reason).toContain('another PLANWAVE_HOME');
  expect(parked_reason).toContain('then resume the run');
  expect((await stage.questions(run)).open).toEqual([]);

  cpSync(aside, segments, { recursive: true });
  // Run and wave park each on its own: what the second one lacked is told after the resume of the first.
  await eventually('the resumed run', async () => {
    const { phase } = await stage.status(run);
    if (phase === 'parked') await run.signal('resume', {});
    return phase === 'completed';
  });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(stage, run.workflowId);
}, 90_000);
