import type { AgentOutput, Fact } from '../../../contracts/agent-output.ts';
import type { WaveView } from '../../../contracts/views.ts';
import { waveWorkflowId } from '../../../core/ids.ts';
import type { RecordedCall, ReplyFunction } from '../../../rehearsal/script.ts';
import { openQuestion, rejectedMessages, submit } from '../../support/asking.ts';
import { faultsOf } from '../../support/calls.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  callsOf,
  completed,
  decision,
  held,
  newestText,
  plan,
  planCalls,
  plans,
  question,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';
import type { WaveDecision } from '../../../contracts/wave-plan.ts';

const { stage } = useStage();

const stating = (value: string) => [
  { key: 'price', value, statement: `It costs ${value}.`, confidence: 'high' as const },
];

/** An output that meets the delegation's criterion and states its price. */
function priced(id: string, value: string): AgentOutput {
  return { ...completed(`${id}-done`), facts: stating(value) };
}

/** @param open Criteria that the decision names as open. */
function resolved(
  origin: string,
  superseded: string,
  { open = [], ...over }: Partial<WaveDecision> & { readonly open?: readonly string[] } = {},
): WaveDecision {
  const made = decision(...open);
  const entry = { conflict: 'conflict:price', resolution: 'The newer list.', origin, superseded };
  return {
    ...made,
    planner_decision: { ...made.planner_decision, conflicts_resolved: [entry] },
    ...over,
  };
}

function decides(nth: number, json: WaveDecision) {
  return { match: { schema: 'decision' as const, nth }, reply: { json } };
}

function decisionCalls(): RecordedCall[] {
  return stage.rehearsal.calls().filter(({ shape }) => shape === 'decision');
}

function conflictsIn(call: RecordedCall | undefined): string | undefined {
  return /<conflicts>(.*)<\/conflicts>/u.exec(newestText(call))?.[1];
}

/** Without what differs between runs: times, and artifacts that are named after them. */
function comparable({ recorded_at: _at, ...fact }: Fact) {
  return fact;
}

/** A run of one wave in which `first` ends before the model answers `second`. */
async function play(first: string, second: string) {
  stage.rehearsal.reset();
  const runId = `conflict-${first}-first`;
  const late: ReplyFunction = async () => {
    const wave = stage.client.workflow.getHandle(waveWorkflowId(runId, 1));
    await eventually(`the end of ${first}`, async () => {
      const { delegations } = await wave.query<WaveView>('wave');
      return delegations.find((one) => one.delegation_id === first)?.state === 'completed';
    });
    return { json: priced(second, second === 'a' ? '10' : '12') };
  };
  stage.rehearsal.script([
    plans(1, plan([work('a'), work('b')])),
    works(first, { json: priced(first, first === 'a' ? '10' : '12') }),
    works(second, late),
    decides(1, decision()),
    decides(2, resolved('wave-001/b', 'wave-001/a')),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Compare prices' }, runId);
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  const [asked, repaired] = decisionCalls();
  const { facts } = await storedRecord(stage.home, runId);
  await expectPromisesKept(stage, runId);
  return {
    conflicts: conflictsIn(asked),
    faults: faultsOf(repaired),
    facts: facts.map(comparable),
  };
}

it('part of fault 36: two delegations that contradict each other are the same conflict, with the same result, whoever ends first', async () => {
  const one = await play('a', 'b');
  const other = await play('b', 'a');
  expect(other).toEqual(one);
  expect(JSON.parse(one.conflicts ?? '')).toEqual([
    {
      conflict: 'conflict:price',
      sides: [
        { source: 'wave-001/a', value: '10', origin: 'agent' },
        { source: 'wave-001/b', value: '12', origin: 'agent' },
      ],
      sides_left_out: 0,
    },
  ]);
  // The decision that passed over it went back.
  expect(one.faults).toHaveLength(1);
  expect(one.faults[0]).toContain('"10" (wave-001/a) against "12" (wave-001/b)');
  expect(one.facts).toMatchObject([
    { fact_id: 'f1', key: 'price', value: '10', superseded_by: 'f2' },
    { fact_id: 'f2', key: 'price', value: '12', superseded_by: null },
  ]);
});

it('a later wave that contradicts the pool is resolved by name, and no text goes on with the value that lost', async () => {
  const open = { ...decision('goal-1'), facts: stating('10') };
  stage.rehearsal.script([
    plans(1, plan([work('first', { criteria: ['goal-1'] })])),
    works('first', { json: unmet('completed', 'No list was found.', 'goal-1') }),
    decides(1, open),
    plans(2, plan([work('second', { criteria: ['goal-1'] })])),
    works('second', { json: { ...completed('goal-1'), facts: stating('12') } }),
    // The planner keeps to its own statement of wave 1, which code finds; then its text does.
    decides(2, { ...decision(), facts: stating('10') }),
    decides(3, resolved('wave-002/second', 'f1', { wave_compact: 'Known:\n\n- Price: 10' })),
    decides(4, resolved('wave-002/second', 'f1', { wave_compact: 'Known:\n\n- Price: 12' })),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Name the price', criteria: ['Named.'] });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  expect(newestText(planCalls(stage.rehearsal)[1])).toContain('"key":"price","value":"10"');
  const [, asked, second, third] = decisionCalls();
  expect(conflictsIn(asked)).toContain('"source":"f1","value":"10","origin":"planner"');
  expect(faultsOf(second)).toEqual([
    expect.stringContaining('"10" (f1, planner) against "12" (wave-002/second)'),
  ]);
  expect(faultsOf(third)).toEqual([expect.stringContaining('line 3 says "- Price: 10"')]);
  const { facts } = await storedRecord(stage.home, run.workflowId);
  expect(facts.map(({ value, origin, superseded_by }) => [value, origin, superseded_by])).toEqual([
    ['10', 'planner', 'f2'],
    ['12', 'agent', null],
  ]);
  await expectPromisesKept(stage, run.workflowId);
});

it('who built on what was superseded is offered to the planner, and only what it chooses is done again', async () => {
  const task_description = 'Tabulate the prices.';
  const table = { task_description, depends_on: ['list'], criteria: ['goal-1'] };
  const again = { ...table, depends_on: [], redoes: 'table' };
  stage.rehearsal.script([
    plans(1, plan([work('list'), work('table', table), work('apart')])),
    works('list', { json: priced('list', '10') }),
    works('table', { json: unmet('completed', 'One price is missing.', 'goal-1') }),
    works('apart', { json: completed('apart-done') }),
    decides(1, decision('goal-1')),
    plans(2, plan([work('check', { task_description, criteria: ['goal-1'] })])),
    works('check', { json: { ...unmet('completed', 'No.', 'goal-1'), facts: stating('12') } }),
    decides(2, resolved('wave-002/check', 'f1', { open: ['goal-1'] })),
    plans(3, plan([work('list-again', { ...again, redoes: 'list' })])),
    plans(4, plan([work('table-again', again)])),
    works('table-again', { json: completed('goal-1') }),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Tabulate prices', criteria: ['A table.'] });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 3 });
  const [, , third, repaired] = planCalls(stage.rehearsal);
  const stale = /<stale>(.*)<\/stale>/u.exec(newestText(third))?.[1] ?? '';
  expect(JSON.parse(stale)).toMatchObject([
    {
      delegation_id: 'table',
      reasons: ['f1 is superseded by f2'],
      cost_last_time: expect.any(String),
    },
  ]);
  // The same agent, task, inputs and criteria for the third time: that is for stale work alone.
  expect(faultsOf(repaired)).toEqual([
    expect.stringContaining('"list" is not stale'),
    expect.stringContaining('ran twice without result'),
  ]);
  const record = await storedRecord(stage.home, run.workflowId);
  expect(record.stale).toMatchObject([{ delegation_id: 'table', redone_by: 'table-again' }]);
  await expectPromisesKept(stage, run.workflowId);
});

it('an answer that amend changes is judged like an answer, and makes those stale who asked', async () => {
  const region = question('Which region?', {
    expected_answer_format: 'choice',
    choices: ['EU', 'US'],
  });
  const decided = held({ json: decision('goal-1') });
  stage.rehearsal.script([
    plans(1, plan([work('ask', { criteria: ['goal-1'] }), work('apart')])),
    works('ask', { json: blocked([region], 'goal-1') }, 1),
    works('ask', { json: unmet('completed', 'Half of it.', 'goal-1') }),
    works('apart', { json: completed('apart-done') }),
    { match: { schema: 'decision', nth: 1 }, reply: decided.reply },
    plans(2, plan([work('ask-again', { criteria: ['goal-1'], redoes: 'ask' })])),
    works('ask-again', { json: completed('goal-1') }),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Choose a host', criteria: ['Chosen.'] });
  await submit(run, { question_id: (await openQuestion(stage, run)).question_id, answer: 'EU' });
  await eventually('the decision', async () => decisionCalls().length === 1);
  await run.signal('amend', { answers: [{ question_id: 'q1', answer: 'Mars' }] });
  const [rejected] = await rejectedMessages(stage, run, 1);
  expect(rejected?.reason).toContain('Signal amend: q1: expected one of "EU", "US"');
  await run.signal('amend', { answers: [{ question_id: 'q1', answer: 'us' }] });
  await eventually('the new answer', async () => {
    const [answer] = (await stage.questions(run)).answered;
    return answer?.answer === 'US';
  });
  decided.release();
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  const second = newestText(planCalls(stage.rehearsal)[1]);
  expect(second).toContain('"delegation_id":"ask","wave":1');
  expect(second).toContain('the answer to q1 was changed');
  expect(second).toContain('The user changed the answers to: \\"q1\\".');
  expect(newestText(callsOf(stage.rehearsal, 'ask-again')[0])).toContain('"answer":"US"');
  const { stale, facts } = await storedRecord(stage.home, run.workflowId);
  expect(stale).toMatchObject([{ delegation_id: 'ask', redone_by: 'ask-again' }]);
  expect(facts.map(({ superseded_by }) => superseded_by)).toEqual(['f2', null, null]);
  await expectPromisesKept(stage, run.workflowId);
});

/** A decision on the conflict over the region. */
const rules = (origin: string, superseded: string): WaveDecision => {
  const made = decision();
  const conflict = 'conflict:hosting-region';
  const entry = { conflict, resolution: 'As it is.', origin, superseded };
  const planner_decision = { ...made.planner_decision, conflicts_resolved: [entry] };
  return { ...made, planner_decision };
};

it("finding F6: what an agent states against the user's answer is a conflict, decided in the user's favour", async () => {
  const region = question('Where may the data be?', { fact_key: 'hosting region' });
  const inUs = { key: 'Hosting region', value: 'us-east', statement: 'It runs in us-east.' };
  const stated = { ...completed('goal-1'), facts: [{ ...inUs, confidence: 'high' as const }] };
  stage.rehearsal.script([
    plans(1, plan([work('ask', { criteria: ['goal-1'] })])),
    works('ask', { json: blocked([region], 'goal-1') }, 1),
    works('ask', { json: unmet('completed', 'Half of it.', 'goal-1') }),
    decides(1, decision('goal-1')),
    plans(2, plan([work('set-up', { criteria: ['goal-1'] })])),
    works('set-up', { json: stated }),
    decides(2, decision()),
    decides(3, rules('wave-002/set-up', 'f1')),
    decides(4, rules('f1', 'wave-002/set-up')),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Set up the backup', criteria: ['Set up.'] });
  await submit(run, {
    question_id: (await openQuestion(stage, run)).question_id,
    answer: 'eu-west',
  });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  const [, asked, second, third] = decisionCalls();
  expect(conflictsIn(asked)).toContain('"source":"f1","value":"eu-west","origin":"user"');
  expect(faultsOf(second)).toEqual([
    expect.stringContaining('"eu-west" (f1) against "us-east" (wave-002/set-up)'),
  ]);
  expect(faultsOf(third)).toEqual([expect.stringContaining('f1 is what the user said, "eu-west"')]);
  const { facts } = await storedRecord(stage.home, run.workflowId);
  expect(facts.map(({ key, value, superseded_by }) => [key, value, superseded_by])).toEqual([
    ['hosting-region', 'eu-west', null],
    ['hosting-region', 'us-east', 'f1'],
  ]);
  await expectPromisesKept(stage, run.workflowId);
});

/** A decision that lets both prices stand, each under its key. */
const apart = (first: string, second: string): WaveDecision => {
  const made = resolved('', '');
  const [entry] = made.planner_decision.conflicts_resolved;
  if (entry === undefined) throw new Error('There is no entry.');
  const keys_apart = [
    { source: 'wave-001/hetzner', key: first },
    { source: 'wave-001/scaleway', key: second },
  ];
  const conflicts_resolved = [{ ...entry, resolution: 'Two providers.', keys_apart }];
  return { ...made, planner_decision: { ...made.planner_decision, conflicts_resolved } };
};

it('finding F7: two prices of two providers both stand once the decision tells their subjects apart', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('hetzner'), work('scaleway')])),
    works('hetzner', { json: priced('hetzner', '49') }),
    works('scaleway', { json: priced('scaleway', '29') }),
    decides(1, decision()),
    decides(2, apart('price of a server', 'Price of a server')),
    decides(3, apart('price of Hetzner', 'price of Scaleway')),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Compare two providers' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  const [, second, third] = decisionCalls();
  expect(faultsOf(second)).toEqual([expect.stringContaining('keys_apart if all hold')]);
  expect(faultsOf(third)).toEqual([expect.stringContaining('"price-of-a-server" is "49" already')]);
  const { facts } = await storedRecord(stage.home, run.workflowId);
  expect(facts.map(({ key, value, superseded_by }) => [key, value, superseded_by])).toEqual([
    ['price', '49', 'f3'],
    ['price', '29', 'f4'],
    ['price-of-hetzner', '49', null],
    ['price-of-scaleway', '29', null],
  ]);
  await expectPromisesKept(stage, run.workflowId);
});
