import type { WorkflowHandle } from '@temporalio/client';
import type { Question } from '../../../contracts/question.ts';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { memberCalls, takes, triad, triadWork } from '../../support/scripted-triad.ts';
import { blocked, held, newestText, question, work } from '../../support/scripted-work.ts';
import { untilSignaled } from '../../support/until-idle.ts';
import { useStage } from '../../support/use-stage.ts';
import { provideWritingAgent } from '../../support/writing-agent.ts';

const { stage } = useStage();

const goal = 'Compare two ways to store sensor data';

/** Model calls of a rehearsed dialectic triad, whose critic revises one claim. */
const callsOfSeven = 7;

const writes = (name: string) => ({
  tool_use: [{ name: 'write_file', input: { path: `${name}.md`, content: name } }],
});

function firstQuestion(run: WorkflowHandle): Promise<Question> {
  return eventually('a question', async () => (await stage.questions(run)).open[0]);
}

describe('a triad below a wave', () => {
  it('asks the user by its delegation, and the writer goes on with the answer', async () => {
    stage.rehearsal.script([
      takes(
        { member: 'synthesizer', phase: 'execute', nth: 1 },
        { json: blocked([question('Which region?')], 'asks-done') },
      ),
    ]);
    const delegations = [triadWork('asks', 'dialectic'), work('other')];
    const run = await stage.start('plannerWave', { goal, delegations });
    const asked = await firstQuestion(run);
    expect(asked).toMatchObject({ text: 'Which region?', delegation_id: 'asks' });
    await run.signal('answer', { question_id: asked.question_id, answer: 'eu-west' });
    const { outcomes }: WaveResult = await run.result();
    expect(outcomes).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
    expect(newestText(memberCalls(stage.rehearsal, { phase: 'execute' }).at(-1))).toContain(
      'eu-west',
    );
    await expectPromisesKept(stage, run.workflowId);
  });

  it('pauses and resumes with it, and starts nothing meanwhile', async () => {
    const call = held({ pass: true });
    stage.rehearsal.script([takes({ member: 'critic', phase: 'deliberate' }, call.reply)]);
    const run = await stage.start('plannerWave', {
      goal,
      delegations: [triadWork('one', 'dialectic')],
    });
    await stage.rehearsal.waitForCalls(2);
    await run.signal('pause', { reason: 'a look first' });
    await untilSignaled(stage, `${run.workflowId}/one/deliberate`, 'pause');
    call.release();
    await eventually(
      'the reply',
      async () => stage.rehearsal.calls()[1]?.outcome === 'answered' || undefined,
    );
    expect(stage.rehearsal.calls()).toHaveLength(2);
    await run.signal('resume', {});
    const { outcomes }: WaveResult = await run.result();
    expect(outcomes).toMatchObject([{ status: 'completed', turns: callsOfSeven }]);
    await expectPromisesKept(stage, run.workflowId);
  });

  it('is stopped with it, and tells what it used', async () => {
    const long = { pass: true, delayMs: 600_000 } as const;
    stage.rehearsal.script([takes({ member: 'peer-3', phase: 'deliberate' }, long)]);
    const run = await stage.start('plannerWave', {
      goal,
      delegations: [triadWork('one', 'consensus')],
    });
    await stage.rehearsal.waitForCalls(3);
    await run.signal('stop', { reason: 'enough' });
    const { status, outcomes }: WaveResult = await run.result();
    expect(status).toBe('stopped');
    expect(outcomes).toMatchObject([
      {
        status: 'stopped',
        executor: { work: { phases: [{ phase: 'deliberate', status: 'stopped' }] } },
      },
    ]);
    await expectPromisesKept(stage, run.workflowId);
  });

  it('shares one budget among members who work at the same time', async () => {
    const budget = { calls: 9, delegation: { calls: 4 } };
    // A turn is over in time on a busy machine, too.
    const timeouts = { turn_seconds: 10 };
    const delegations = [
      triadWork('one', 'consensus', { triad: triad('consensus', { timeouts }) }),
    ];
    const run = await stage.start('plannerWave', { goal, delegations, budget });
    const asked = await firstQuestion(run);
    expect(asked).toMatchObject({ kind: 'budget' });
    expect(stage.rehearsal.calls()).toHaveLength(4);
    // Longer than a turn may take: no time passes while the user is asked.
    await new Promise((resolve) => setTimeout(resolve, timeouts.turn_seconds * 1_000 + 500));
    await run.signal('answer', { question_id: asked.question_id, answer: 'finish' });
    const { outcomes }: WaveResult = await run.result();
    expect(outcomes).toMatchObject([
      { status: 'failed', turns: 4, reason: expect.stringContaining('budget') },
    ]);
    await expectPromisesKept(stage, run.workflowId);
  });

  it('has approvals of members who ask at the same time put together, answered in any order', async () => {
    const agents_dir = provideWritingAgent(stage.home, 'risky', 'high');
    const two = ['peer-1', 'peer-2'];
    stage.rehearsal.script(
      two.map((member) => takes({ member, phase: 'deliberate', nth: 1 }, writes(member))),
    );
    const plain = triad('consensus');
    const members = plain.members.map((one) => ({ ...one, agent_id: 'risky' }));
    const delegations = [
      triadWork('one', 'consensus', { agent_id: 'risky', triad: { ...plain, members } }),
    ];
    const run = await stage.start('plannerWave', { goal, delegations, agents_dir });
    const open = await eventually('two questions', async () => {
      const { open: all } = await stage.questions(run);
      return all.length === 2 && all;
    });
    const [first, second] = open.map(({ question_id }) => question_id);
    await run.signal('answer', { question_id: second, answer: 'deny' });
    await run.signal('answer', { question_id: first, answer: 'approve' });
    const { outcomes }: WaveResult = await run.result();
    expect(outcomes).toMatchObject([{ status: 'completed' }]);
    await expectPromisesKept(stage, run.workflowId);
  });

  it('parks with it, and makes the same call again when somebody resumes', async () => {
    stage.rehearsal.script([
      takes({ member: 'peer-2', phase: 'negotiate', nth: 1 }, { status: 401, message: 'no key' }),
    ]);
    const delegations = [triadWork('one', 'consensus')];
    const run = await stage.start('plannerWave', { goal, delegations });
    await eventually('the park', async () => (await stage.status(run)).parked_reason);
    await run.signal('resume', {});
    const { outcomes }: WaveResult = await run.result();
    expect(outcomes).toMatchObject([
      { status: 'completed', executor: { work: { phases: [{}, { attempt: 1 }, {}] } } },
    ]);
    await expectPromisesKept(stage, run.workflowId);
  });

  // The last one: what the terminated phase had begun is named by nothing.
  it('is lost with a phase that somebody terminates', async () => {
    const long = { pass: true, delayMs: 600_000 } as const;
    stage.rehearsal.script([takes({ member: 'critic', phase: 'negotiate' }, long)]);
    const delegations = [triadWork('one', 'dialectic')];
    const run = await stage.start('plannerWave', { goal, delegations });
    await stage.rehearsal.waitForCalls(4);
    await stage.client.workflow.getHandle(`${run.workflowId}/one/negotiate`).terminate('a test');
    const { outcomes }: WaveResult = await run.result();
    expect(outcomes).toMatchObject([
      { status: 'failed', reason: expect.stringContaining('Phase negotiate was lost') },
    ]);
    await expectPromisesKept(stage, run.workflowId, { lostUsage: true, orphans: true });
  });
});
