import type { RecordedCall } from '../../../rehearsal/script.ts';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  atOnce,
  blocked,
  callsOf,
  completed,
  held,
  newestText,
  plan,
  plans,
  question,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Host the backup';

function firstCall(id: string): RecordedCall {
  const [call] = callsOf(stage.rehearsal, id);
  if (call === undefined) throw new Error(`${id} made no call.`);
  return call;
}

it('starts a delegation when its own dependencies are done, not when a batch is', async () => {
  const b = held({ json: completed('b-done') });
  stage.rehearsal.script([works('a', { json: completed('a-done') }), works('b', b.reply)]);
  const run = await stage.start('plannerWave', {
    goal,
    delegations: [
      work('a'),
      work('b'),
      work('c', { depends_on: ['a'] }),
      work('d', { depends_on: ['b'] }),
    ],
  });
  // While b is still at work.
  await eventually('the calls of b and c', async () =>
    ['b', 'c'].every((id) => callsOf(stage.rehearsal, id).length > 0),
  );
  expect(callsOf(stage.rehearsal, 'd')).toEqual([]);
  b.release();
  const result: WaveResult = await run.result();
  expect(result.outcomes.map(({ status }) => status)).toEqual(Array(4).fill('completed'));
  const [first, second, c, d] = ['a', 'b', 'c', 'd'].map(firstCall);
  expect(c?.startedAtMs).toBeGreaterThanOrEqual(first?.endedAtMs ?? Infinity);
  expect(d?.startedAtMs).toBeGreaterThanOrEqual(second?.endedAtMs ?? Infinity);
  // The upstream's output reaches those that depend on it, and no other.
  expect(newestText(c)).toContain('# Result of a');
  expect(newestText(c)).not.toContain('# Result of b');
  await expectPromisesKept(stage, run.workflowId);
});

it('keeps max_parallel, and uses it', async () => {
  stage.rehearsal.script([
    { match: { schema: 'delegation' }, reply: atOnce(3, { pass: true, delayMs: 150 }) },
  ]);
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const run = await stage.start('plannerWave', {
    goal,
    delegations: ids.map((id) => work(id)),
    limits: { max_parallel: 3 },
  });
  const result: WaveResult = await run.result();
  expect(result.outcomes.map(({ status }) => status)).toEqual(Array(7).fill('completed'));
  expect(stage.rehearsal.counts().maxInFlight).toBe(3);
  await expectPromisesKept(stage, run.workflowId);
});

it('a delegation that waits for an answer gives its slot to others, and waits for one to go on', async () => {
  const second = held({ json: completed('second-done') });
  stage.rehearsal.script([
    plans(1, plan([work('asks'), work('second'), work('third')])),
    works('asks', { json: blocked([question('Which region?')], 'asks-done') }, 1),
    works('asks', { json: completed('asks-done') }),
    works('second', second.reply),
    works('third', { json: completed('third-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal, limits: { max_parallel: 1 } });
  const { question_id } = await openQuestion(stage, run);
  await eventually(
    'the slot to be used',
    async () => callsOf(stage.rehearsal, 'second').length === 1,
  );
  await submit(run, { question_id, answer: 'eu-west' });
  const wave = stage.client.workflow.getHandle(`${run.workflowId}/wave-001`);
  await eventually('the answer to wait for a slot', async () =>
    JSON.stringify(await wave.query('wave')).includes('a free slot (1 of 1 at work)'),
  );
  expect(callsOf(stage.rehearsal, 'asks')).toHaveLength(1);
  second.release();

  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  // One delegation, and the planner while it reviews the question.
  expect(stage.rehearsal.counts().maxInFlight).toBeLessThanOrEqual(2);
  // Who has its answer goes on before anything new starts.
  const order = stage.rehearsal.calls().filter(({ shape }) => shape === 'delegation');
  expect(order.map(({ callKey }) => callKey.split('/')[2])).toEqual([
    'asks',
    'second',
    'asks',
    'third',
  ]);
  await expectPromisesKept(stage, run.workflowId);
});

it('finding F5: skips what depends on a failure or needs more than it got; others see what is unmet', async () => {
  stage.rehearsal.script([
    works('fails', { json: unmet('failed', 'the source is gone', 'fails-done') }),
    works('half', {
      json: {
        ...completed('half-1'),
        coverage: {
          ...completed('half-1').coverage,
          criteria_unmet: [{ criterion_id: 'half-2', reason: 'no time' }],
        },
      },
    }),
  ]);
  const run = await stage.start('plannerWave', {
    goal,
    delegations: [
      work('fails'),
      work('half', { criteria: ['half-1', 'half-2'], produces: ['halves'] }),
      work('after-failure', { depends_on: ['fails'] }),
      work('after-half', { depends_on: ['half'], required_inputs: ['halves'] }),
      work('strict', { depends_on: ['half'], required_inputs: ['halves'], needs: 'met' }),
      work('after-both', { depends_on: ['after-failure'] }),
      work('free'),
    ],
  });
  const result: WaveResult = await run.result();
  const outcomes = result.outcomes.map(({ delegation_id, status, reason }) => [
    delegation_id,
    status,
    reason,
  ]);
  expect(outcomes).toEqual([
    ['fails', 'failed', 'the source is gone'],
    ['half', 'completed', ''],
    ['after-failure', 'skipped', 'fails failed'],
    ['after-half', 'completed', ''],
    [
      'strict',
      'skipped',
      'input "halves" cannot come: half completed with criteria unmet, and "needs" is "met"',
    ],
    ['after-both', 'skipped', 'after-failure was skipped'],
    ['free', 'completed', ''],
  ]);
  for (const id of ['after-failure', 'strict', 'after-both']) {
    expect(callsOf(stage.rehearsal, id)).toEqual([]);
  }
  const packet = newestText(firstCall('after-half'));
  expect(packet).toContain('# Result of half (halves): Task half, whole\n# Result\n\n## half-1');
  expect(packet).toContain('Not met: half-2 (half-2 can be seen in the result.): no time');
  const decision = newestText(stage.rehearsal.calls().find(({ shape }) => shape === 'decision'));
  expect(decision).toContain('"reason":"input \\"halves\\" cannot come');
  expect(decision).toContain('"reason":"after-failure was skipped"');
  expect(result.decision?.planner_decision.io_status).toBe('NOT_OK');
  await expectPromisesKept(stage, run.workflowId);
});

it('finding W5: after "mend after review" the next one gets the newer version, and its word counts', async () => {
  stage.rehearsal.script([
    works('draft', { json: unmet('completed', 'A guess.', 'text-done') }),
    works('review', { json: completed('review-done') }),
    works('final', { json: completed('text-done') }),
    works('ship', { json: completed('ship-done') }),
  ]);
  const text = { criteria: ['text-done'], produces: ['text'] };
  const run = await stage.start('plannerWave', {
    goal,
    delegations: [
      work('draft', text),
      work('review', { depends_on: ['draft'] }),
      work('final', { ...text, depends_on: ['draft', 'review'], replaces: 'draft' }),
      work('ship', { depends_on: ['final'], required_inputs: ['text'] }),
    ],
  });
  const result: WaveResult = await run.result();
  expect(result.outcomes.map(({ status }) => status)).toEqual(Array(4).fill('completed'));
  expect(result.criteria.map(({ state }) => state)).toEqual(['met', 'met', 'met']);
  expect(newestText(firstCall('final'))).toContain('# Result of draft (');
  const packet = newestText(firstCall('ship'));
  expect(packet).toMatch(/^# Result of final \([^)]*\), which replaces draft: /m);
  expect(packet).not.toContain('# Result of draft');
  await expectPromisesKept(stage, run.workflowId);
});
