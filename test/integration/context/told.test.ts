import type { AgentOutput } from '../../../contracts/agent-output.ts';
import type { WaveDecision } from '../../../contracts/wave-decision.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  completed,
  decision,
  newestText,
  plan,
  planCalls,
  plans,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

/** What travels from one wave to the next, in the requests that the model gets. */

const { stage } = useStage();

const missing: AgentOutput = {
  ...unmet('completed', 'UNMET-FOR-THIS-REASON', 'prices-done'),
  missing_info_requests: [{ input: 'price-sheet', why: 'MISSED-FOR-THIS' }],
};

const notEnough: WaveDecision = {
  ...decision('prices-done'),
  planner_decision: {
    io_status: 'NOT_OK',
    not_ok_reasons: ['NOT-OK-FOR-THIS'],
    conflicts_resolved: [],
    next_actions: ['DO-THIS-NEXT'],
  },
};

it('findings F3 and F4: the second plan reads why the first wave was not enough, and what was missing', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('prices')])),
    works('prices', { json: missing }),
    { match: { schema: 'decision', nth: 1 }, reply: { json: notEnough } },
    plans(2, plan([work('again', { criteria: ['prices-done'] })])),
    works('again', { json: completed('prices-done') }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await stage.start('plannerRun', { goal: 'Compare prices' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const [first, second] = planCalls(stage.rehearsal).map(newestText);
  const told = [
    'UNMET-FOR-THIS-REASON',
    'MISSED-FOR-THIS',
    'NOT-OK-FOR-THIS',
    'DO-THIS-NEXT',
    '"title":"Task prices"',
    '"status":"completed"',
  ];
  for (const text of told) {
    expect(second).toContain(text);
    expect(first).not.toContain(text);
  }
  await expectPromisesKept(stage, run.workflowId);
}, 60_000);
