import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { RecordedEffect } from '../../../contracts/effect.ts';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import type { AgentOutput } from '../../../contracts/agent-output.ts';
import type { Reply, ScriptedToolCall } from '../../../rehearsal/script.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { faultsOf, lastMessageOf } from '../../support/calls.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  callsOf,
  completed,
  decision,
  newestText,
  plan,
  plans,
  work,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';
import { provideWritingAgent } from '../../support/writing-agent.ts';

const { stage } = useStage();

const folders: string[] = [];
afterAll(() => {
  for (const dir of folders) rmSync(dir, { recursive: true, force: true });
});

const writes = (path: string, content = `The text of ${path}`): ScriptedToolCall => ({
  name: 'write_file',
  input: { path, content },
});
const uses = (...tool_use: readonly ScriptedToolCall[]): Reply => ({ tool_use });
const claims = (criterion: string, ...effects_claimed: string[]): AgentOutput => ({
  ...completed(criterion),
  effects_claimed,
});

const reopening = {
  ...decision('pages-done'),
  criteria_reopened: [{ criterion_id: 'pages-done', reason: 'Nobody has looked at it.' }],
};

/** A folder with an agent of low and one of high risk, both with write_file. */
function agentsDir(): string {
  provideWritingAgent(stage.home, 'builder', 'low');
  return provideWritingAgent(stage.home, 'risky', 'high');
}

const workspaceOf = (runId: string, path: string): string =>
  join(stage.home, runId, 'workspace', path);

async function effectsOf(runId: string): Promise<readonly RecordedEffect[]> {
  const { effects = [] } = await storedRecord(stage.home, runId);
  const lines = readFileSync(join(stage.home, runId, 'effects.jsonl'), 'utf8')
    .trim()
    .split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(effects);
  return effects;
}

const statesOf = (effects: readonly RecordedEffect[]) =>
  effects.map(({ effect_id, state, target }) => [effect_id, state, target]);

it('what agents write is confirmed, recorded and claimed; what is not, is unproven', async () => {
  stage.rehearsal.script([
    plans(
      1,
      plan([
        work('pages', { agent_id: 'builder' }),
        work('boast', { agent_id: 'builder' }),
        work('spy', { agent_id: 'researcher' }),
      ]),
    ),
    works('pages', uses(writes('site/a.md', 'old'), writes('site/a.md'), writes('../b.md')), 1),
    works('pages', { json: claims('pages-done', 'site/a.md') }),
    works('boast', { json: claims('boast-done', 'report.pdf') }),
    works('spy', uses(writes('stolen.md')), 1),
    works('spy', { json: completed('spy-done') }),
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Build a site',
    agents_dir: agentsDir(),
    limits: { max_waves: 1 },
    use_defaults: true,
  });
  const result = await stage.result(run);
  expect(result.criteria.map(({ criterion_id, state }) => [criterion_id, state])).toEqual([
    ['pages-done', 'met'],
    ['boast-done', 'open'],
    ['spy-done', 'met'],
  ]);
  // In their order, whatever came back first.
  expect(readFileSync(workspaceOf(run.workflowId, 'site/a.md'), 'utf8')).toContain('The text of');
  const effects = await effectsOf(run.workflowId);
  const ofPages = effects.filter(({ delegation_id }) => delegation_id === 'pages');
  expect(statesOf(ofPages)).toEqual([
    ['pages/effect-1', 'confirmed', 'site/a.md'],
    ['pages/effect-2', 'confirmed', 'site/a.md'],
    ['pages/effect-3', 'failed', '../b.md'],
  ]);
  // The claim came back with the reason, in each attempt, and then counted as unmet.
  expect(faultsOf(callsOf(stage.rehearsal, 'boast')[1])[0]).toMatch(
    /effects_claimed\[0\].*unproven/,
  );
  expect(result.criteria[1]?.reason).toContain('unproven');
  // Without the grant the tool does not exist, and the try stands in the record.
  expect(lastMessageOf(callsOf(stage.rehearsal, 'spy')[1])).toContain('There is no tool');
  expect(existsSync(workspaceOf(run.workflowId, 'stolen.md'))).toBe(false);
  expect(statesOf(effects.filter(({ delegation_id }) => delegation_id === 'spy'))).toEqual([
    ['spy/effect-1', 'failed', ''],
  ]);
  await expectPromisesKept(stage, run.workflowId);
});

it('finding W3: a written file belongs to the detail: the decision shows it, and others can load it', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('pages', { agent_id: 'builder' })])),
    works('pages', uses(writes('site/a.md', 'old'), writes('site/a.md')), 1),
    works('pages', { json: claims('pages-done', 'site/a.md') }),
    { match: { schema: 'decision', nth: 1 }, reply: { json: reopening } },
    plans(2, plan([work('review', { criteria: ['pages-done'] })])),
    works('review', uses({ name: 'load_detail', input: { detail_id: 'pages' } }), 1),
    works('review', { json: completed('pages-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Build a site', agents_dir: agentsDir() });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  const [first] = stage.rehearsal.calls().filter(({ shape }) => shape === 'decision');
  const file =
    /# File site\/a\.md\n\nWritten by write_file: 21 bytes, SHA-256 [0-9a-f]{64}\.\n\n```\nThe text of site\/a\.md\n```/;
  expect(newestText(first)).toMatch(file);
  const [, second] = callsOf(stage.rehearsal, 'review');
  expect(lastMessageOf(second)).toContain('```\\nThe text of site/a.md\\n```');
  await expectPromisesKept(stage, run.workflowId);
});

it('an agent of high risk asks first: approved once for one call, denied, and never by default', async () => {
  const named = mkdtempSync(join(tmpdir(), 'planwave-named-'));
  folders.push(named);
  const again = uses(writes('a.md', 'the same'));
  stage.rehearsal.script([{ times: 2, reply: again }, { reply: { json: claims('c1', 'a.md') } }]);
  const run = await stage.start('delegation', {
    agent_id: 'risky',
    task_description: 'Write a file.',
    agents_dir: agentsDir(),
    workspace_dir: named,
    changes: 'direct',
  });
  const asked = await openQuestion(stage, run);
  expect(asked).toMatchObject({
    kind: 'approval',
    choices: ['approve', 'deny'],
    default_answer: 'deny',
    deadline_seconds: 259_200,
    priority: 'critical',
  });
  expect(asked.text).toMatch(/risky.*write_file.*a\.md.*the same.*[0-9a-f]{64}/s);
  // What the agent was when the run began is what counts.
  provideWritingAgent(stage.home, 'risky', 'low');
  expect(existsSync(join(named, 'a.md'))).toBe(false);
  await submit(run, { question_id: 'q1', answer: 'approve' });
  // The same call again is another one: the first approval is used up.
  await openQuestion(stage, run, 'q2');
  expect(readFileSync(join(named, 'a.md'), 'utf8')).toBe('the same');
  await run.signal('answer', { question_id: 'q2', answer: 'deny' });
  const outcome: DelegationOutcome = await run.result();
  expect(outcome).toMatchObject({ status: 'completed', turns: 3 });
  expect(lastMessageOf(stage.rehearsal.calls()[2])).toContain('The user did not approve it.');
  expect(
    (await effectsOf(run.workflowId)).map(({ state, approval_question_id }) => [
      state,
      approval_question_id,
    ]),
  ).toEqual([
    ['confirmed', 'q1'],
    ['denied', null],
  ]);
  await expectPromisesKept(stage, run.workflowId);
});

it('a run that takes defaults approves nothing, and the agent is told that nobody did', async () => {
  stage.rehearsal.script([
    works('try', uses(writes('a.md')), 1),
    works('try', { json: completed('try-done') }),
  ]);
  const run = await stage.start('plannerWave', {
    goal: 'Write',
    use_defaults: true,
    agents_dir: agentsDir(),
    delegations: [work('try', { agent_id: 'risky' })],
  });
  const wave: WaveResult = await run.result();
  expect(wave.outcomes).toMatchObject([{ status: 'completed' }]);
  expect(lastMessageOf(callsOf(stage.rehearsal, 'try')[1])).toContain('Nobody approved it');
  expect(existsSync(workspaceOf(run.workflowId, 'a.md'))).toBe(false);
  expect(statesOf(await effectsOf(run.workflowId))).toEqual([['try/effect-1', 'denied', 'a.md']]);
  await expectPromisesKept(stage, run.workflowId);
});

it('a run that is stopped while an approval waits has changed nothing and says so', async () => {
  stage.rehearsal.script([works('task', uses(writes('a.md')))]);
  const run = await stage.start('plannerWave', {
    goal: 'Write',
    agents_dir: agentsDir(),
    delegations: [work('task', { agent_id: 'risky' })],
  });
  await openQuestion(stage, run);
  await eventually('the intention in the record', async () => {
    const { effects = [] } = await storedRecord(stage.home, run.workflowId);
    return effects[0]?.state === 'intended';
  });
  await run.signal('stop', {});
  await run.result();
  expect(await effectsOf(run.workflowId)).toMatchObject([
    { state: 'failed', target: 'a.md', reason: 'It was stopped before anybody approved it.' },
  ]);
  await expectPromisesKept(stage, run.workflowId);
});
