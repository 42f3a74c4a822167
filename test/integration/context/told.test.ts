import type { AgentOutput } from '../../../contracts/agent-output.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  callsOf,
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
import type { WaveDecision } from '../../../contracts/wave-plan.ts';

/** Checks in the model's requests which information reaches the next wave. */

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
});

/** Says that it met `<id>-done`, in a text that nothing else holds. */
const says = (id: string): AgentOutput => ({
  ...completed(`${id}-done`),
  detailed_md: `# Result\n\n## ${id}-done\n\nTHE-WHOLE-OF-${id}\n`,
});

const reopened: WaveDecision = {
  ...decision('notes-done'),
  criteria_reopened: [{ criterion_id: 'notes-done', reason: 'The notes are too short.' }],
};

it('finding P1: the first request of a task holds whole what it builds on, of its wave and of earlier ones', async () => {
  stage.rehearsal.script([
    plans(
      1,
      plan([
        work('facts', { produces: ['price-list'] }),
        work('notes', { required_inputs: ['facts'], depends_on: ['facts'] }),
      ]),
    ),
    works('facts', { json: says('facts') }),
    works('notes', { json: says('notes') }),
    { match: { schema: 'decision', nth: 1 }, reply: { json: reopened } },
    plans(
      2,
      plan([
        work('again', {
          criteria: ['notes-done'],
          required_inputs: ['price-list', 'notes'],
          provided_inputs: ['price-list', 'notes'],
        }),
      ]),
    ),
    works('again', { json: completed('notes-done') }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await stage.start('plannerRun', { goal: 'Take notes' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const [notes, ...more] = callsOf(stage.rehearsal, 'notes');
  const [again, ...others] = callsOf(stage.rehearsal, 'again');
  // No call was bought to load them.
  expect([more, others]).toEqual([[], []]);
  expect(newestText(notes)).toContain('THE-WHOLE-OF-facts');
  for (const id of ['facts', 'notes']) expect(newestText(again)).toContain(`THE-WHOLE-OF-${id}`);
  await expectPromisesKept(stage, run.workflowId);
});
