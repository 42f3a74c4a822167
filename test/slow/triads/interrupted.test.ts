import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import { openQuestion, refusalOf, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { goal, inFlight } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { memberCalls, takes, triad, triadWork } from '../../support/scripted-triad.ts';
import { blocked, held, plan, plans, question } from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { untilIdle } from '../../support/until-idle.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';
import { provideWritingAgent } from '../../support/writing-agent.ts';
import { triadOf } from '../../support/executors.ts';

const { stage } = useProcessStages();

/** Each peer has one to write. */
const sections = ['price', 'risk', 'style'].map((section_id) => ({
  section_id,
  text: `What is to be said of ${section_id}.`,
}));

/** Goal whose proposals are plans, so that each peer writes its section. */
const laterGoal = `${goal} [later]`;

/** Model calls of three peers that agree at once: a round in each phase, the first summary and the output. */
const callsOfEleven = 11;

const consensus = {
  goal: laterGoal,
  delegations: [triadWork('one', 'consensus', { triad: triad('consensus', { sections }) })],
};

it('fault 4: SIGTERM while three peers are at work drains all of them, and nothing is bought again', async () => {
  const call = held({ pass: true });
  stage.rehearsal.script([takes({ phase: 'negotiate', round: 1 }, call.reply)]);
  const first = await startWorkerProcess(stage);
  const run = await stage.start('plannerWave', consensus);
  await eventually(
    'three calls in flight',
    async () => inFlight(memberCalls(stage.rehearsal, { phase: 'negotiate' })).length === 3,
  );
  first.signal('SIGTERM');
  await first.printed('Stopping');
  call.release();
  expect(await first.ended).toBe('exit code 0');
  const drained = memberCalls(stage.rehearsal, { phase: 'negotiate' });
  expect(drained.map(({ outcome }) => outcome)).toEqual(['answered', 'answered', 'answered']);
  expect((await run.describe()).status.name).toBe('RUNNING');

  await stage.startWorker();
  const { outcomes }: WaveResult = await run.result();
  expect(outcomes).toMatchObject([{ status: 'completed', turns: callsOfEleven }]);
  // Theirs, and the planner's decision.
  expect(stage.rehearsal.calls()).toHaveLength(callsOfEleven + 1);
  await expectPromisesKept(stage, run.workflowId);
});

it('a budget that is spent in the middle of a round asks, and goes on where it stood when it is topped up', async () => {
  await stage.startWorker();
  const budget = { delegation: { calls: 5 } };
  const run = await stage.start('plannerWave', { ...consensus, budget });
  const asked: string[] = [];
  for (const id of ['q1', 'q2']) {
    const { kind, question_id } = await openQuestion(stage, run, id);
    asked.push(kind);
    // None too many, and none is still to come: what it would return might do for another.
    expect(stage.rehearsal.calls()).toHaveLength(5 * asked.length);
    await submit(run, { question_id, answer: 'top_up' });
  }
  const { outcomes }: WaveResult = await run.result();
  expect(asked).toEqual(['budget', 'budget']);
  expect(outcomes).toMatchObject([{ status: 'completed', turns: callsOfEleven }]);
  expect(triadOf(outcomes[0])?.phases.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  expect(memberCalls(stage.rehearsal)).toHaveLength(callsOfEleven);
  for (const phase of ['negotiate', 'execute']) {
    expect(await requestsBesideCalls(`${run.workflowId}/one/${phase}`)).toEqual([]);
  }
  await expectPromisesKept(stage, run.workflowId);
});

/** Lists the workflow tasks in which a phase requested more for one member and began the call of another. */
async function requestsBesideCalls(phaseId: string): Promise<readonly string[]> {
  const { events } = await stage.client.workflow.getHandle(phaseId).fetchHistory();
  const tasksWith = (word: 'signal' | 'call'): readonly string[] =>
    (events ?? []).flatMap((event) => {
      const call = event.activityTaskScheduledEventAttributes;
      const signal = event.signalExternalWorkflowExecutionInitiatedEventAttributes;
      const isCall = call?.activityType?.name === 'modelTurn';
      const by = word === 'signal' ? signal : isCall ? call : null;
      return by ? [String(by.workflowTaskCompletedEventId)] : [];
    });
  const calls = tasksWith('call');
  return tasksWith('signal').filter((task) => calls.includes(task));
}

it('part of fault 2: an approval for a member, given when its worker was killed, is applied once, and so is the answer to the writer', async () => {
  const agents_dir = provideWritingAgent(stage.home, 'risky', 'high');
  const plain = triad('consensus', { sections });
  const members = plain.members.map((one) => ({ ...one, agent_id: 'risky' }));
  const over = { agent_id: 'risky', triad: { ...plain, members } };
  stage.rehearsal.script([
    plans(1, plan([triadWork('one', 'consensus', over)])),
    takes(
      { member: 'peer-2', phase: 'deliberate', nth: 1 },
      { tool_use: [{ name: 'write_file', input: { path: 'note.md', content: 'Once.' } }] },
    ),
    {
      match: { member: 'peer-1', phase: 'execute', schema: 'delegation', nth: 1 },
      reply: { json: blocked([question('Which region?')], 'one-done') },
    },
  ]);
  const first = await startWorkerProcess(stage);
  const run = await stage.start('plannerRun', { goal: laterGoal, agents_dir });
  const runId = run.workflowId;
  const approval = { question_id: 'q1', answer: 'approve' };
  expect(await openQuestion(stage, run)).toMatchObject({
    kind: 'approval',
    delegation_id: 'one',
    agent_id: 'risky',
  });
  // Replies that were sent may still be on their way into the history: a kill there buys them again.
  await untilIdle(stage, runId);
  expect(memberCalls(stage.rehearsal)).toHaveLength(3);
  expect((await runCommand(stage, ['status', runId])).out).toContain('q1');
  first.signal('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');

  await stage.startWorker();
  await submit(run, approval);
  await submit(run, approval);
  // The writer's own question, in the last phase.
  expect(await openQuestion(stage, run, 'q2')).toMatchObject({ text: 'Which region?' });
  expect((await runCommand(stage, ['questions', runId])).out).toContain('Which region?');
  const { code } = await runCommand(stage, ['answer', runId, 'q2', 'eu-west']);
  expect(code).toBe(0);
  expect((await refusalOf(run, { ...approval, answer: 'deny' })).reason).toContain('approve');

  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const { answered } = await stage.questions(run);
  expect(answered.map(({ answer }) => answer)).toEqual(['approve', 'eu-west']);
  expect(readFileSync(join(stage.home, runId, 'workspace', 'note.md'), 'utf8')).toBe('Once.');
  const { effects = [] } = await storedRecord(stage.home, runId);
  expect(effects).toMatchObject([{ state: 'confirmed', approval_question_id: 'q1' }]);
  // The calls of an undisturbed one, one more for the write and one for the answer.
  expect(memberCalls(stage.rehearsal)).toHaveLength(callsOfEleven + 2);
  await expectPromisesKept(stage, runId, { orphans: true, refusedTasks: true });
});
