import { openQuestions, submit } from '../../support/asking.ts';
import { blocked, completed, plan, plans, question, work, works } from '../../support/scripted-work.ts';
import { openStage } from '../../support/stage.ts';
it('dbg', async () => {
  const stage = await openStage();
  for (let k = 0; k < 12; k++) {
    stage.rehearsal.reset();
    const ids = ['a', 'b', 'c', 'd'];
    stage.rehearsal.script([
      plans(1, plan(ids.map((id) => work(id)))),
      ...ids.flatMap((id) => [
        works(id, { json: blocked([question(`Which ${id}?`)], `${id}-done`) }, 1),
        works(id, { json: completed(`${id}-done`) }),
      ]),
    ]);
    const run = await stage.start('plannerRun', { goal: 'x' });
    const open = await openQuestions(stage, run, 4);
    for (let i = 0; i < 6; i++) {
      await run.signal('pause', {});
      await run.signal('resume', {});
    }
    for (const q of open) await submit(run, { question_id: q.question_id, answer: 'x' });
    const end = await Promise.race([run.result(), new Promise((r) => setTimeout(() => r('HANG'), 8000))]);
    if (end === 'HANG') {
      console.log('HANG', JSON.stringify(await stage.status(run)), JSON.stringify(await stage.client.workflow.getHandle(run.workflowId + '/wave-001').query('wave')));
      const h = await stage.client.workflow.getHandle(run.workflowId + '/wave-001').fetchHistory();
      console.log(h.events?.flatMap((e) => e.workflowExecutionSignaledEventAttributes?.signalName ?? []).join(' '));
      for (const id of ids) {
        const c = await stage.client.workflow.getHandle(run.workflowId + '/wave-001/' + id).fetchHistory();
        console.log(id, c.events?.flatMap((e) => e.workflowExecutionSignaledEventAttributes?.signalName ?? []).join(' '));
      }
      await run.terminate();
    }
  }
  await stage.close();
}, 200_000);
