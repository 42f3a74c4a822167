import { eventTypes } from '../../support/histories.ts';
import type { StoredHistory } from '../../support/histories.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { completed, decision, held, plan, work, works } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

/** Short histories stand for long ones: a workflow task has 4 s here, 10 s by default. */
const taskTimeout = '--dynamic-config-value=history.defaultWorkflowTaskTimeout="4s"';
const { stage } = useStage({ thinkMs: 0, serverArguments: [taskTimeout] });

const runs = 24;
/** Turns of each run's only delegation. Its wave has some 350 events: three such waves are replayed in less than half of a task's time. */
const turns = 55;

it('fault 2: a new worker replays many long histories at once, and no run stands still', async () => {
  const last = held({ json: completed('long-done') });
  const madeBefore = new Map<string, number>();
  stage.rehearsal.script([
    { match: { schema: 'plan' }, reply: { json: plan([work('long')]) } },
    works('long', (request) => {
      const [run = ''] = request.callKey.split('/');
      const turn = madeBefore.get(run) ?? 0;
      madeBefore.set(run, turn + 1);
      if (turn >= turns) return last.reply(request);
      return { text: `Part ${turn}`, stop_reason: 'pause_turn' };
    }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const calls = turns + 20;
  const input = {
    goal: 'Host the backup',
    limits: { max_turns: calls },
    budget: { calls, tokens: 1e9, delegation: { calls: calls - 10, tokens: 1e9 } },
  };
  const started = await Promise.all(
    Array.from({ length: runs }, () => stage.start('plannerRun', input)),
  );
  const untilCalled = (perRun: number) =>
    eventually(
      `${perRun} calls of each run`,
      async () => stage.rehearsal.calls().length >= runs * perRun,
      300_000,
    );
  // The plan, all turns, and the last call, which waits at the model. A new worker makes it again.
  await untilCalled(turns + 2);
  await stage.stopWorker();
  await stage.startWorker();
  await untilCalled(turns + 3);
  last.release();
  for (const run of started) {
    expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  }
  const histories = await expectPromisesKept(
    stage,
    started.map(({ workflowId }) => workflowId),
  );
  // The fault occurred: there was much to replay.
  expect(histories.filter((one) => eventTypes(one).length > 300)).toHaveLength(runs);
  // On a busy machine a task may be late. If a worker replays all runs at once, each is, several times in a row.
  expect(histories.flatMap(listLate).length).toBeLessThan(runs / 2);
}, 600_000);

/** Lists the workflow tasks that a worker began and did not end in time; others waited for the worker that was gone. */
function listLate({ history }: StoredHistory): string[] {
  return (history.events ?? []).flatMap(({ eventId, workflowTaskTimedOutEventAttributes: late }) =>
    Number(late?.startedEventId ?? 0) > 0 ? [String(eventId)] : [],
  );
}
