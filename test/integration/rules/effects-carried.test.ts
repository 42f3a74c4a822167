import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import type { Reply } from '../../../rehearsal/script.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { lastMessageOf } from '../../support/calls.ts';
import { fetchHistories } from '../../support/histories.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { callsOf, completed, ownWorkflows, work, works } from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';
import { provideWritingAgent } from '../../support/writing-agent.ts';

/** Delegations continue as new after a few turns. */
const { stage } = useStage({
  serverArguments: ['--dynamic-config-value=limit.historyCount.suggestContinueAsNew=30'],
});

const write: Reply = { tool_use: [{ name: 'write_file', input: { path: 'a.md', content: 'A' } }] };
const nothing: Reply = { tool_use: [{ name: 'no_such_tool', input: {} }] };

it('an approval ends with its call: the same call after continue-as-new asks again, and the proof is carried', async () => {
  const agents_dir = provideWritingAgent(stage.home, 'risky', 'high');
  stage.rehearsal.script([
    works('task', write, 1),
    ...[2, 3, 4, 5].map((nth) => works('task', nothing, nth)),
    works('task', write, 6),
    works('task', { json: { ...completed('task-done'), effects_claimed: ['a.md'] } }),
  ]);
  const run = await stage.start('plannerWave', {
    goal: 'Write',
    agents_dir,
    limits: ownWorkflows,
    delegations: [work('task', { agent_id: 'risky' })],
  });
  await openQuestion(stage, run, 'q1');
  await submit(run, { question_id: 'q1', answer: 'approve' });
  await openQuestion(stage, run, 'q2');
  const histories = await fetchHistories(stage.client, run.workflowId);
  expect(histories.filter(({ workflowId }) => workflowId.endsWith('/task')).length).toBeGreaterThan(
    1,
  );
  await submit(run, { question_id: 'q2', answer: 'deny' });
  const wave: WaveResult = await run.result();
  // The claim rests on what was confirmed before the delegation continued as new.
  expect(wave.outcomes).toMatchObject([{ status: 'completed', criteria_met: ['task-done'] }]);
  expect(lastMessageOf(callsOf(stage.rehearsal, 'task')[6])).toContain('The user did not approve');
  const { effects } = await storedRecord(stage.home, run.workflowId);
  expect(effects).toMatchObject([
    { effect_id: 'task/effect-1', state: 'confirmed', approval_question_id: 'q1' },
    { effect_id: 'task/effect-2', state: 'denied', approval_question_id: null },
  ]);
  expect(readFileSync(join(stage.home, run.workflowId, 'workspace/a.md'), 'utf8')).toBe('A');
  await expectPromisesKept(stage, run.workflowId);
});
