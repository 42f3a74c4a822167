import type { WorkflowHandle } from '@temporalio/client';
import type { AgentOutput } from '../../../contracts/agent-output.ts';
import type { RunRecord } from '../../../contracts/run-record.ts';
import { openQuestion, rejectedMessages, submit } from '../../support/asking.ts';
import { faultsOf } from '../../support/calls.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  completed,
  decision,
  newestText,
  plan,
  plans,
  question,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';
import type { WaveDecision } from '../../../contracts/wave-plan.ts';

/** The four guarantees of seed 004 §13, each against somebody who tries to break it, in one run. */

const { stage } = useStage();

const stating = (id: string, value: string): AgentOutput => ({
  ...completed(`${id}-done`),
  facts: [{ key: 'engine', value, statement: `It runs on ${value}.`, confidence: 'high' }],
});

/** Says nothing of the contradiction, and claims that all is well. */
const careless: WaveDecision = decision('broken-done', 'blind-done');

const careful: WaveDecision = {
  ...careless,
  planner_decision: {
    ...careless.planner_decision,
    conflicts_resolved: [
      {
        conflict: 'conflict:engine',
        resolution: 'The measurement is newer.',
        origin: 'wave-001/new',
        superseded: 'wave-001/old',
      },
    ],
  },
};

let run: WorkflowHandle;
let record: RunRecord;

async function playRun(): Promise<void> {
  stage.rehearsal.script([
    plans(
      1,
      plan([
        work('broken', { produces: ['survey'] }),
        work('blind', { required_inputs: ['survey'], depends_on: ['broken'] }),
        work('old'),
        work('new'),
        work('asker'),
        work('later', { required_inputs: ['asker'], depends_on: ['asker'] }),
      ]),
    ),
    works('broken', { json: unmet('failed', 'The survey is lost.', 'broken-done') }),
    works('old', { json: stating('old', 'steam') }),
    works('new', { json: stating('new', 'power') }),
    works(
      'asker',
      {
        json: blocked([question('Who decides?', { priority: 'critical' })], 'asker-done'),
      },
      1,
    ),
    works('asker', { json: completed('asker-done') }),
    works('later', { json: completed('later-done') }),
    { match: { schema: 'decision', nth: 1 }, reply: { json: careless } },
    { match: { schema: 'decision' }, reply: { json: careful } },
  ]);
  run = await stage.start('plannerRun', { goal: 'Try to break it', limits: { max_waves: 1 } });
  await openQuestion(stage, run);
  await run.signal('answer', { question_id: 'q7', answer: 'nobody asked' });
  await rejectedMessages(stage, run, 1);
  await submit(run, { question_id: 'q1', answer: 'The owner' });
  await openQuestion(stage, run, 'q2');
  await submit(run, { question_id: 'q2', answer: 'finish' });
  await stage.result(run);
  record = await storedRecord(stage.home, run.workflowId);
}

let calls: ReturnType<typeof stage.rehearsal.calls>;
beforeAll(async () => {
  await playRun();
  // Each test begins with an empty log.
  calls = stage.rehearsal.calls();
});

const outcomeOf = (id: string) =>
  record.waves.flatMap((wave) => wave.outcomes).find((one) => one.delegation_id === id);

it('guarantee 1: no agent flies blind: without its input it does not start, and its packet has every part', () => {
  expect(outcomeOf('blind')).toMatchObject({ status: 'skipped', turns: 0 });
  expect(outcomeOf('blind')?.reason).toContain('survey');
  expect(calls.filter(({ callKey }) => callKey.includes('/blind/'))).toEqual([]);
  const packets = calls.filter(({ shape }) => shape === 'delegation');
  expect(packets.length).toBeGreaterThan(3);
  const parts = [
    'planner_compact_input',
    'detail_index',
    'answered_questions',
    'active_assumptions',
  ];
  const missing = packets.flatMap(({ body, callKey }) =>
    parts
      .filter((part) => !JSON.stringify(body).includes(`<${part}>`))
      .map((part) => [callKey, part]),
  );
  expect(missing).toEqual([]);
  // Not only the tags: what the user said, and the work that a task builds on, whole.
  const [later] = packets.filter(({ callKey }) => callKey.includes('/later/'));
  expect(newestText(later)).toContain('"answer":"The owner"');
  expect(newestText(later)).toContain('## asker-done\n\nIt is done.');
  // Who decides sees all of it, and what is missing.
  const [decided] = calls.filter(({ shape }) => shape === 'decision');
  for (const text of ['The survey is lost.', 'It runs on steam.', '"answer":"The owner"']) {
    expect(newestText(decided)).toContain(text);
  }
  expect(newestText(decided)).toContain('## later-done\n\nIt is done.');
});

it('guarantee 2: nothing is lost in silence: what failed, lost or was refused is in the record with its reason', () => {
  expect(outcomeOf('broken')).toMatchObject({ status: 'failed', reason: 'The survey is lost.' });
  expect(outcomeOf('broken')?.output_ref).not.toBeNull();
  const [old, young] = ['steam', 'power'].map((value) =>
    record.facts.find((fact) => fact.value === value),
  );
  expect(old?.superseded_by).toBe(young?.fact_id);
  expect(young?.superseded_by).toBeNull();
  expect(record.rejected_answers).toMatchObject([{ question_id: 'q7' }]);
});

it('guarantee 3: decisions can be followed: each contradiction is resolved by name, each fact says where it is from', () => {
  const [, repaired] = calls.filter(({ shape }) => shape === 'decision');
  // The careless decision went back.
  expect(faultsOf(repaired).join(' ')).toContain('engine');
  expect(record.facts.filter(({ source_refs }) => source_refs.length === 0)).toEqual([]);
  expect(record.waves.map(({ plan_ref, decision_ref }) => [plan_ref, decision_ref])).toEqual([
    [expect.any(String), expect.any(String)],
  ]);
});

it('guarantee 4: what is unclear is escalated in order: one question, its answer, and the run says what is left open', async () => {
  expect(record.answered_questions).toMatchObject([
    { question_id: 'q1', delegation_id: 'asker', answer: 'The owner' },
    { question_id: 'q2', delegation_id: null, answer: 'finish' },
  ]);
  const asker = calls.filter(({ callKey }) => callKey.includes('/asker/'));
  expect(asker).toHaveLength(2);
  expect(newestText(asker[1])).toContain('The owner');
  expect(record.status).toBe('finished_unmet');
  expect(
    record.criteria.filter(({ state }) => state === 'open').map((one) => one.criterion_id),
  ).toEqual(['broken-done', 'blind-done']);
  await expectPromisesKept(stage, run.workflowId);
});
