import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { completed, plan, plans, work, works } from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

const hangs = { pass: true, delayMs: 600_000 } as const;

const { stage } = useProcessStages();

function agentsDir(): string {
  const folder = join(stage.home, 'agents-of-web');
  mkdirSync(folder, { recursive: true });
  const text =
    '---\nname: surfer\ndescription: Searches.\ntools: web_research\n---\n\nYou search.\n';
  writeFileSync(join(folder, 'surfer.md'), text);
  return folder;
}

/** The nested calls so far. */
const nested = () =>
  stage.rehearsal
    .calls()
    .filter(({ body }) => JSON.stringify(body).includes('web_search_20260318'));

it('kill -9 inside the nested call and after it: one reply is bought', async () => {
  const input = { question: 'Which release is current?' };
  stage.rehearsal.script([
    { match: { bodyIncludes: 'web_search_20260318' }, times: 1, reply: hangs },
    plans(1, plan([work('survey', { agent_id: 'surfer' })])),
    works('survey', { tool_use: [{ name: 'web_research', input }] }, 1),
    works('survey', hangs, 2),
    works('survey', { json: completed('survey-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Find out', agents_dir: agentsDir() });

  const first = await startWorkerProcess(stage);
  await eventually('the nested call', async () => nested().length === 1);
  first.signal('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');

  const second = await startWorkerProcess(stage);
  // The agent reads the report, so the reply was recorded.
  await eventually('the call after it', async () =>
    stage.rehearsal.calls().some(({ body }) => JSON.stringify(body).includes('retrieved_at')),
  );
  second.signal('SIGKILL');
  expect(await second.ended).toBe('SIGKILL');

  await stage.startWorker();
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect(nested().map(({ outcome }) => outcome)).toEqual(['client-closed', 'answered']);
  const { effects } = await storedRecord(stage.home, run.workflowId);
  expect(effects).toMatchObject([{ state: 'confirmed', receipt: { web: { searches: 1 } } }]);
  await expectPromisesKept(stage, run.workflowId, { orphans: true });
});
