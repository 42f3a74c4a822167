import type { Reply } from '../../rehearsal/script.ts';
import { fetchHistories } from '../support/histories.ts';
import { untilCall } from '../support/process-stage.ts';
import { expectPromisesKept } from '../support/promises.ts';
import { completed, decision, held, plan, plans, work, works } from '../support/scripted-work.ts';
import { useStage } from '../support/use-stage.ts';

/** Turns that load a detail; one more gives the output. */
const turns = 200;
const bytesPerTurnMax = 3 * 1024;

/** Own server with default limits, because the shared one may have others. */
const { stage } = useStage({ serverArguments: [], thinkMs: 0 });

/** Three pages of 20 KB and a short one: after three turns every context is beyond 50 KB, and it grows. */
const line = `${'A fact about storing a backup, with its source. '.repeat(2)}\n`;
const longText = line.repeat(Math.ceil(61_000 / line.length));

function loadPage(page: number): Reply {
  return { tool_use: [{ name: 'load_detail', input: { detail_id: 'gather', page } }] };
}

it('a delegation of 200 turns with contexts of more than 50 KB: history grows by a small, even step', async () => {
  const runId = 'long';
  const first = held(loadPage(1));
  const middle = held(loadPage(4));
  const last = held({ json: completed('load-done') });
  stage.rehearsal.script([
    plans(
      1,
      plan([work('gather'), work('load', { depends_on: ['gather'], required_inputs: ['gather'] })]),
    ),
    { match: { schema: 'decision' }, reply: { json: decision() } },
    works('gather', { json: { ...completed('gather-done'), detailed_md: longText } }),
    works('load', first.reply, 1),
    works('load', loadPage(2), 2),
    works('load', loadPage(3), 3),
    works('load', middle.reply, turns / 2 + 1),
    works('load', last.reply, turns + 1),
    works('load', loadPage(4)),
  ]);
  const run = await stage.start(
    'plannerRun',
    { goal: 'Compare three ways to store a backup', limits: { max_turns: turns + 1 } },
    runId,
  );
  const sizes: number[] = [];
  for (const [nth, call] of [
    [1, first],
    [turns / 2 + 1, middle],
    [turns + 1, last],
  ] as const) {
    await untilCall(stage, `${runId}/wave-001/load`, nth);
    sizes.push(await historyBytes(runId));
    call.release();
  }
  expect((await stage.result(run)).status).toBe('completed');

  const [before = 0, half = 0, full = 0] = sizes;
  const early = (half - before) / (turns / 2);
  const late = (full - half) / (turns / 2);
  expect(Math.abs(late - early)).toBeLessThanOrEqual(0.2 * early);
  expect(Math.max(early, late)).toBeLessThanOrEqual(bytesPerTurnMax);
  if (process.env['PLANWAVE_FIGURES'] === '1') {
    console.log({ bytes_per_turn: { early, late }, bytes_before: before, bytes_at_end: full });
  }

  // The contexts were as large as they were meant to be: what was sent never went through history.
  const sent = stage.rehearsal.calls().filter(({ callKey }) => callKey.includes('/load/'));
  expect(sent).toHaveLength(turns + 1);
  expect(sent.slice(3).every(({ body }) => JSON.stringify(body).length > 50_000)).toBe(true);
  await expectPromisesKept(stage, runId);
}, 1_800_000);

/** Adds up the history of all workflows of the run, each with every execution that it continued. */
async function historyBytes(runId: string): Promise<number> {
  const executions = await fetchHistories(stage.client, runId);
  const descriptions = await Promise.all(
    executions.map(({ workflowId, runId: execution }) =>
      stage.client.workflow.getHandle(workflowId, execution).describe(),
    ),
  );
  return descriptions.reduce((sum, { historySize }) => sum + (historySize ?? 0), 0);
}
