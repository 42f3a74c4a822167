import type { BudgetView } from '../../../contracts/views.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { deepScript, essenceOf } from '../../support/deep-run.ts';
import { eventTypes } from '../../support/histories.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import type { Stage } from '../../support/stage.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage: long } = useStage();
const { stage: short } = useStage({
  serverArguments: ['--dynamic-config-value=limit.historyCount.suggestContinueAsNew=20'],
});

const deep = { waves: 6, width: 3 };

async function runDeep(stage: Stage) {
  stage.rehearsal.script(deepScript(deep));
  const run = await stage.start(
    'plannerRun',
    {
      goal: 'Go deep',
      criteria: ['The last step is done'],
      limits: { max_waves: deep.waves },
      budget: { calls: 100, tokens: 10_000_000 },
    },
    'deep',
  );
  await openQuestion(stage, run);
  await submit(run, { question_id: 'q1', answer: 'Europe' });
  const result = await stage.result(run);
  expect(result.status).toBe('completed');
  const { budget, spent } = await run.query<BudgetView>('budget');
  const histories = await expectPromisesKept(stage, run.workflowId);
  const continuations = histories
    .flatMap(eventTypes)
    .filter((type) => type === 'EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW').length;
  return {
    essence: essenceOf(await storedRecord(stage.home, run.workflowId)),
    budget,
    calls: spent.split(',').at(-1),
    continuations,
  };
}

it('fault 15: a run that continues as new many times ends with the same pool, answers, edges, budget and outcomes', async () => {
  const whole = await runDeep(long);
  const parts = await runDeep(short);
  expect(whole.continuations).toBe(0);
  // The fault fired, in the run and in the delegation that waited.
  expect(parts.continuations).toBeGreaterThan(3);
  expect({ ...parts, continuations: 0 }).toEqual(whole);
  // A fact and an assumption of each delegation, and the answer; of what they contradict, the first stands.
  const { facts, edges } = whole.essence;
  expect(facts).toHaveLength(2 * deep.waves * deep.width + 1);
  const lost = facts.filter(({ superseded_by }) => superseded_by !== null);
  expect(lost).toHaveLength((deep.waves - 1) * deep.width);
  expect(edges[0]).toHaveLength(deep.waves * deep.width);
  expect(whole.essence.answers).toHaveLength(1);
});
