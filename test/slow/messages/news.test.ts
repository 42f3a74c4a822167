import type { WorkflowHandle } from '@temporalio/client';
import type { Delivery } from '../../../contracts/messages.ts';
import type { RecordedCall } from '../../../rehearsal/script.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { payloadText } from '../../support/histories.ts';
import type { StoredHistory } from '../../support/histories.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { does, gives, leads, taskCriterion, teamInput } from '../../support/scripted-team.ts';
import { takes } from '../../support/scripted-triad.ts';
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
import { untilIdle, untilSignaled, untilTold } from '../../support/until-idle.ts';
import { useStage } from '../../support/use-stage.ts';

/** Answers and instructions during a run have to reach all its work in progress. */

const { stage } = useStage();

const answer = 'eu-west, never in the US';
const region = question('Which region?');

/** The planner passes the question on to the user. */
const passedOn = {
  question: 1,
  verdict: 'needs_user_input',
  answer: null,
  source_refs: [],
  reason: 'Only the user knows.',
};

/** The planner lets the agent assume. */
const settled = {
  question: 1,
  verdict: 'assumed',
  answer: 'small',
  source_refs: [],
  reason: 'It can be changed later.',
};

const decisions = (): readonly RecordedCall[] =>
  stage.rehearsal.calls().filter(({ shape }) => shape === 'decision');

/** Waits until the wave has heard of an answer or instruction: the asker may be given its answer earlier. */
const untilInformed = (run: WorkflowHandle): Promise<void> =>
  untilSignaled(stage, `${run.workflowId}/wave-001`, 'inform');

const delivered = (histories: readonly StoredHistory[]): Delivery[] =>
  histories
    .flatMap(({ history }) => history.events ?? [])
    .flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => {
      if (signal?.signalName !== 'deliver') return [];
      const delivery: Delivery = JSON.parse(payloadText(signal.input));
      return [delivery];
    });

const texts = (calls: readonly RecordedCall[]): string[] =>
  calls.map(({ body }) => JSON.stringify(body));

describe('an answer that is given during a wave', () => {
  it('finding F1: reaches later delegations, the question review and the decision, once each', async () => {
    const answered = held({ json: completed('ask-done') });
    stage.rehearsal.script([
      plans(
        1,
        plan([work('ask'), work('set-up', { depends_on: ['ask'], required_inputs: ['ask'] })]),
      ),
      works('ask', { json: blocked([region], 'ask-done') }, 1),
      works('ask', answered.reply),
      works(
        'set-up',
        { json: blocked([question('Which size?', { priority: 'low' })], 'set-up-done') },
        1,
      ),
      works('set-up', { json: completed('set-up-done') }),
      { match: { schema: 'review', nth: 1 }, reply: { json: { reviews: [passedOn] } } },
      { match: { schema: 'review' }, reply: { json: { reviews: [settled] } } },
    ]);
    const run = await stage.start('plannerRun', { goal: 'Host the backup' });
    await openQuestion(stage, run);
    await submit(run, { question_id: 'q1', answer });
    await untilInformed(run);
    answered.release();
    await stage.result(run);
    const [first] = callsOf(stage.rehearsal, 'set-up');
    const reviews = stage.rehearsal.calls().filter(({ shape }) => shape === 'review');
    expect(reviews).toHaveLength(2);
    expect(decisions()).toHaveLength(1);
    for (const call of [first, reviews[1], ...decisions()]) {
      expect(newestText(call).split(answer)).toHaveLength(2);
    }
    // Who asked is given it as the answer, and not a second time.
    expect(newestText(callsOf(stage.rehearsal, 'ask')[1]).split(answer)).toHaveLength(2);
    const histories = await expectPromisesKept(stage, run.workflowId);
    // Each answer brings its own news, which may come later by themselves.
    const brought = delivered(histories).map(({ news = [] }) => news.map(({ news_id }) => news_id));
    expect(brought).toEqual([[1], [2]]);
  });

  it('finding F1: is an input that the plan it was asked for may require', async () => {
    const planned = held({
      json: plan([work('host', { required_inputs: ['q1'], provided_inputs: ['q1'] })]),
    });
    stage.rehearsal.script([
      plans(1, plan([], [region])),
      { match: { schema: 'plan', nth: 2 }, reply: planned.reply },
      works('host', { json: completed('host-done') }),
    ]);
    const run = await stage.start('plannerRun', { goal: 'Host the backup' });
    await openQuestion(stage, run);
    await submit(run, { question_id: 'q1', answer });
    await untilInformed(run);
    planned.release();
    expect(await stage.result(run)).toMatchObject({ status: 'completed' });
    expect(planCalls(stage.rehearsal)).toHaveLength(2);
    const [host] = callsOf(stage.rehearsal, 'host');
    for (const call of [host, ...decisions()]) expect(newestText(call)).toContain(answer);
  });

  it("finding F1: reaches a team's leader and the members who begin later", async () => {
    stage.rehearsal.script([
      ...leads([[gives('researcher')], [gives('writer')], { output: completed(taskCriterion) }]),
      does({ agent: 'researcher', nth: 1 }, { json: blocked([region], taskCriterion) }),
      does({ agent: 'researcher' }, { json: completed(taskCriterion) }),
      does({ agent: 'writer' }, { json: completed(taskCriterion) }),
    ]);
    const run = await stage.start('team', teamInput(['researcher', 'writer']));
    await openQuestion(stage, run);
    await submit(run, { question_id: 'q1', answer });
    await stage.result(run);
    const calls = stage.rehearsal.calls();
    // The leader, the researcher, the researcher again, the leader, the writer, the leader.
    expect(calls).toHaveLength(6);
    expect(texts(calls).map((text) => text.includes(answer))).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);
  });

  it('finding F1: reaches the members of a triad who have their turn later', async () => {
    const turn = held({ pass: true });
    stage.rehearsal.script([
      takes({ member: 'anna', phase: 'negotiate', nth: 1 }, turn.reply),
      plans(
        1,
        plan([
          work('ask'),
          work('agree', {
            triad: {
              type: 'consensus',
              reason: 'It needs three views.',
              members: ['anna', 'ben', 'carl'].map((name) => ({
                name,
                role: 'peer' as const,
                agent_id: 'researcher',
              })),
            },
          }),
        ]),
      ),
      works('ask', { json: blocked([region], 'ask-done') }, 1),
      works('ask', { json: completed('ask-done') }),
    ]);
    const run = await stage.start('plannerRun', { goal: 'Host the backup' });
    await openQuestion(stage, run);
    await submit(run, { question_id: 'q1', answer });
    await untilInformed(run);
    turn.release();
    await stage.result(run);
    const executing = callsOf(stage.rehearsal, 'agree').filter(({ callKey }) =>
      callKey.includes('/execute'),
    );
    expect(executing.length).toBeGreaterThan(0);
    for (const text of texts(executing)) expect(text).toContain(answer);
  });
});

describe('what the user says at the end of a wave', () => {
  it('finding F2: an answer to a question asked with an OK decision is considered before the run ends', async () => {
    const ok = decision();
    const asking = { ...ok, needs_user_input: true, user_questions: [question('Is it good?')] };
    const reopened = {
      ...decision('host-done'),
      criteria_reopened: [{ criterion_id: 'host-done', reason: 'The user wants it rewritten.' }],
    };
    stage.rehearsal.script([
      plans(1, plan([work('host')])),
      plans(2, plan([work('rewrite', { criteria: ['host-done'] })])),
      works('host', { json: completed('host-done') }),
      works('rewrite', { json: completed('host-done') }),
      { match: { schema: 'decision', nth: 1 }, reply: { json: asking } },
      { match: { schema: 'decision', nth: 2 }, reply: { json: reopened } },
      { match: { schema: 'decision' }, reply: { json: ok } },
    ]);
    const run = await stage.start('plannerRun', { goal: 'Host the backup' });
    await openQuestion(stage, run);
    await submit(run, { question_id: 'q1', answer: 'No. Rewrite it.' });
    expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
    expect(newestText(decisions()[1])).toContain('No. Rewrite it.');
    expect(callsOf(stage.rehearsal, 'rewrite')).toHaveLength(1);
    await expectPromisesKept(stage, run.workflowId);
  });

  it('finding F2: an instruction that comes while the last decision is made is considered, and may need no work', async () => {
    const slow = held({ json: decision() });
    stage.rehearsal.script([
      plans(1, plan([work('host')])),
      works('host', { json: completed('host-done') }),
      { match: { schema: 'decision', nth: 1 }, reply: slow.reply },
      { match: { schema: 'decision' }, reply: { json: decision() } },
    ]);
    const run = await stage.start('plannerRun', { goal: 'Host the backup' });
    await eventually('the decision is under way', async () => decisions().length === 1);
    await run.signal('amend', { instruction: 'Keep it below 10 EUR.' });
    await untilInformed(run);
    slow.release();
    expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
    expect(decisions()).toHaveLength(2);
    expect(newestText(decisions()[1])).toContain('Keep it below 10 EUR.');
  });

  it('finding F1: an instruction that comes while a call waits for a resume is in its prompt', async () => {
    // It is repaired by the next call.
    const slow = held({ json: {} });
    stage.rehearsal.script([
      plans(1, plan([work('host')])),
      works('host', slow.reply, 1),
      works('host', { json: completed('host-done') }),
      { match: { schema: 'decision' }, reply: { json: decision() } },
    ]);
    const run = await stage.start('plannerRun', { goal: 'Host the backup' });
    await stage.rehearsal.waitForCalls(2);
    await run.signal('pause', { reason: 'a look' });
    await untilTold(stage, run.workflowId);
    slow.release();
    await untilIdle(stage, run.workflowId);
    await run.signal('amend', { instruction: 'Only in the EU.' });
    await untilTold(stage, run.workflowId);
    await run.signal('resume', {});
    expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
    const [, repaired, ...more] = callsOf(stage.rehearsal, 'host');
    expect(more).toEqual([]);
    expect(newestText(repaired)).toContain('Only in the EU.');
    await expectPromisesKept(stage, run.workflowId);
  });

  it('finding L2: an instruction and a waiver reach the planner who is asked to try again', async () => {
    const bad = {
      ...decision(),
      planner_decision: { ...decision().planner_decision, io_status: 'NOT_OK' as const },
    };
    stage.rehearsal.script([
      plans(1, plan([work('host'), work('extra')])),
      works('host', { json: completed('host-done') }),
      works('extra', {
        json: {
          ...completed(),
          coverage: {
            criteria_met: [],
            criteria_unmet: [{ criterion_id: 'extra-done', reason: 'No time.' }],
          },
        },
      }),
      ...[1, 2, 3].map((nth) => ({
        match: { schema: 'decision' as const, nth },
        reply: { json: bad },
      })),
      { match: { schema: 'decision' }, reply: { json: decision() } },
    ]);
    const run = await stage.start('plannerWave', { goal: 'Host the backup' });
    await openQuestion(stage, run);
    await run.signal('amend', {
      instruction: 'Leave the extra out.',
      waive_criteria: ['extra-done'],
    });
    await submit(run, { question_id: 'q1', answer: 'retry' });
    await stage.result(run);
    const retried = newestText(decisions()[3]);
    expect(retried).toContain('Leave the extra out.');
    expect(retried).toContain('<open_criteria>[]</open_criteria>');
    expect((await storedRecord(stage.home, run.workflowId)).status).toBe('completed');
  });

  it('finding F2: an instruction that comes between two waves is planned for, even if it needs no work', async () => {
    stage.rehearsal.script([
      plans(1, plan([work('host')])),
      plans(2, plan([])),
      works('host', { json: unmet('completed', 'No time.', 'host-done') }),
      { match: { schema: 'decision' }, reply: { json: decision('host-done') } },
    ]);
    const run = await stage.start('plannerRun', {
      goal: 'Host the backup',
      limits: { max_waves: 1 },
    });
    await openQuestion(stage, run);
    await run.signal('amend', { instruction: 'It is good enough.', waive_criteria: ['host-done'] });
    await submit(run, { question_id: 'q1', answer: 'continue' });
    expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
    expect(newestText(planCalls(stage.rehearsal)[1])).toContain('It is good enough.');
    expect(decisions()).toHaveLength(1);
    await expectPromisesKept(stage, run.workflowId);
  });

  it('finding L2: an instruction reaches a delegation that was started by hand', async () => {
    stage.rehearsal.script([
      { match: { schema: 'delegation', nth: 1 }, reply: { json: blocked([region], 'c1') } },
      { match: { schema: 'delegation' }, reply: { json: completed('c1') } },
    ]);
    const run = await stage.start('delegation', {
      agent_id: 'researcher',
      task_description: 'Choose where a backup goes.',
    });
    await openQuestion(stage, run);
    await run.signal('amend', { instruction: 'Keep it below 10 EUR.' });
    await submit(run, { question_id: 'q1', answer });
    await stage.result(run);
    expect(newestText(stage.rehearsal.calls()[1])).toContain('Keep it below 10 EUR.');
  });
});
