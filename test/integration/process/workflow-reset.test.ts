import { openQuestion } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { resetRun } from '../../support/histories.ts';
import {
  blocked,
  callsOf,
  completed,
  decision,
  held,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Host the backup';

/** Workflow ids of what is open in a run. */
async function listOpen(runId: string): Promise<readonly string[]> {
  const open: string[] = [];
  const query = `PlanwaveRun = "${runId}" AND ExecutionStatus = "Running"`;
  for await (const { workflowId } of stage.client.workflow.list({ query })) open.push(workflowId);
  return open;
}

it.each(['first', 'last'] as const)(
  'a run that is reset to its %s step, while a wave is at work, goes on from there and leaves nothing behind',
  async (to) => {
    const late = held({ json: completed('host-done') });
    stage.rehearsal.script([
      plans(1, plan([work('host')])),
      works('host', late.reply, 1),
      works('host', { json: completed('host-done') }),
      { match: { schema: 'decision' }, reply: { json: decision() } },
    ]);
    const run = await stage.start('plannerRun', { goal, use_defaults: true }, `reset-${to}`);
    await eventually('the call of host', async () => callsOf(stage.rehearsal, 'host').length === 1);
    const again = await resetRun(stage.client, run, to);
    if (to === 'last') late.release();
    expect(await again.result()).toMatchObject({ status: 'completed', waves: 1 });
    late.release();
    // What the old wave told is given to the run once more, and is no message that somebody sent in vain.
    expect((await stage.questions(again)).rejected).toEqual([]);
    await eventually('nothing left open', async () => (await listOpen(`reset-${to}`)).length === 0);
    expect(await storedRecord(stage.home, `reset-${to}`)).toMatchObject({ status: 'completed' });
  },
);

it('a question of a wave that a reset begins anew waits for nobody any more', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    plans(2, plan([work('host')])),
    works('host', { json: blocked([question('Which region?')], 'host-done') }, 1),
    works('host', { json: completed('host-done') }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await stage.start('plannerRun', { goal }, 'reset-asked');
  await openQuestion(stage, run);
  const again = await resetRun(stage.client, run);
  expect(await again.result()).toMatchObject({ status: 'completed', waves: 1 });
  expect((await storedRecord(stage.home, 'reset-asked')).open_questions).toEqual([]);
});
