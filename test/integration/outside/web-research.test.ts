import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inputExamples } from '../../../activities/run-record/describe-input-issues.ts';
import { isRecord } from '../../../core/json.ts';
import type { RecordedCall } from '../../../rehearsal/script.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { stagesOf } from '../../support/design-play.ts';
import { completed, plan, plans, work, works } from '../../support/scripted-work.ts';
import { storedRecord, storedText } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();
const { stage: offline } = useStage({
  settings: { web: { on: false, model: undefined, hosts: [] } },
});

const asks = (question: string, urls?: readonly string[]) => ({
  tool_use: [{ name: 'web_research', input: { question, ...(urls && { urls }) } }],
});

function agentsDir(home: string, tools = 'web_research'): string {
  const folder = join(home, 'agents-of-web');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'surfer.md'),
    `---\nname: surfer\ndescription: Searches the web.\ntools: ${tools}\n---\n\nYou search.\n`,
  );
  return folder;
}

/** The calls with the provider's own search. */
function nested(): RecordedCall[] {
  return stage.rehearsal
    .calls()
    .filter(
      ({ body }) => isRecord(body) && JSON.stringify(body['tools'] ?? []).includes('web_search_'),
    );
}

const bodyOf = ({ body }: RecordedCall): Record<string, unknown> => (isRecord(body) ? body : {});

const script = (question: string, urls?: readonly string[]) => [
  plans(1, plan([work('survey', { agent_id: 'surfer' })])),
  works('survey', asks(question, urls), 1),
  works('survey', { json: completed('survey-done') }),
];

it('an agent asks the web: one nested call without private text, and sources in record, result and report', async () => {
  const url = 'https://docs.example/page';
  stage.rehearsal.script(script('Which release is current?', [url]));
  const goal = `SECRET-GOAL-TEXT about ${url}`;
  const run = await stage.start('plannerRun', { goal, agents_dir: agentsDir(stage.home) });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });

  const calls = nested();
  expect(calls).toHaveLength(1);
  const [body = {}] = calls.map(bodyOf);
  expect(JSON.stringify(body['messages'])).toContain('Which release is current?');
  for (const kept of ['SECRET-GOAL-TEXT', 'survey-done', 'You search.']) {
    expect(JSON.stringify([body['messages'], body['system']])).not.toContain(kept);
  }
  expect(body).not.toHaveProperty('output_config');
  expect(body['tools']).toMatchObject([
    { type: 'web_search_20260318', max_uses: 5, allowed_callers: ['direct'] },
    {
      type: 'web_fetch_20260318',
      citations: { enabled: true },
      url_sources: { user_input: { type: 'all' }, client_tool_results: { type: 'none' } },
      allowed_callers: ['direct'],
    },
  ]);

  const record = await storedRecord(stage.home, run.workflowId);
  expect(record.effects).toMatchObject([
    {
      tool: 'web_research',
      state: 'confirmed',
      receipt: { call: true, web: { searches: 1, opened: 2 } },
    },
  ]);
  // Planner, survey twice, research, decision.
  expect(record.usage.calls).toBe(5);
  const told = stage.rehearsal.calls().map((one) => JSON.stringify(one.body));
  const answered = told.filter(
    (text) => text.includes('source_refs') && text.includes('retrieved_at'),
  );
  expect(answered.length).toBeGreaterThan(0);
  const folder = join(stage.home, run.workflowId);
  expect(readFileSync(join(folder, 'result.md'), 'utf8')).toContain('2 sources were opened.');
  const report = readFileSync(join(folder, 'report.md'), 'utf8');
  expect(report).toContain('## Sources that were opened');
  expect(report).toContain('Rehearsed page 1: https://rehearsed.example/1');
  expect(report).toContain('"Rehearsed: a page about Which release is current?"');
  expect(report).toContain(url);
  await expectPromisesKept(stage, run.workflowId);
});

it('an address that neither a person nor a search named is refused before anything is sent', async () => {
  stage.rehearsal.script(script('Is it?', ['https://evil.example/?stolen=1']));
  const run = await stage.start('plannerRun', {
    goal: 'Find out',
    agents_dir: agentsDir(stage.home),
  });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect(nested()).toEqual([]);
  const told = stage.rehearsal.calls().map((one) => JSON.stringify(one.body));
  expect(told.some((text) => text.includes('an address carries data out'))).toBe(true);
  expect((await storedRecord(stage.home, run.workflowId)).effects).toBeUndefined();
});

it('a delegation that also has private data is asked about each question, and a denied one is not sent', async () => {
  stage.rehearsal.script(script('What does it cost?'));
  const workspace = mkdtempSync(join(tmpdir(), 'planwave-web-'));
  writeFileSync(join(workspace, 'customers.txt'), 'Ana');
  const run = await stage.start('plannerRun', {
    goal: 'Find out',
    agents_dir: agentsDir(stage.home, 'web_research, read_file'),
    workspace_dir: workspace,
  });
  const asked = await openQuestion(stage, run);
  expect(asked).toMatchObject({
    kind: 'approval',
    delegation_id: 'survey',
    default_answer: 'deny',
  });
  expect(asked.text).toContain('What does it cost?');
  expect(nested()).toEqual([]);
  await submit(run, { question_id: asked.question_id, answer: 'deny' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect(nested()).toEqual([]);
  expect((await storedRecord(stage.home, run.workflowId)).effects).toMatchObject([
    { tool: 'web_research', state: 'denied' },
  ]);
});

it('a paused search goes on with what it had, and a refused one is an error that the agent reads', async () => {
  const search = {
    type: 'server_tool_use',
    id: 'srvtoolu_1',
    name: 'web_search',
    input: { query: 'q' },
    caller: { type: 'direct' },
  };
  const refusal = { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' };
  const failed = {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: refusal,
    caller: { type: 'direct' },
  };
  stage.rehearsal.script([
    {
      match: { bodyIncludes: 'web_search_20260318' },
      times: 1,
      reply: { content: [search, failed], stop_reason: 'pause_turn' },
    },
    ...script('Is it?'),
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Find out',
    agents_dir: agentsDir(stage.home),
  });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const [, second] = nested().map((one) => JSON.stringify(bodyOf(one)['messages']));
  expect(second).toContain('max_uses_exceeded');
  const told = stage.rehearsal.calls().map((one) => JSON.stringify(one.body));
  expect(told.some((text) => text.includes('web_search: max_uses_exceeded'))).toBe(true);
  expect((await storedRecord(stage.home, run.workflowId)).effects).toMatchObject([
    { receipt: { web: { searches: 2 } } },
  ]);
});

it('the risk assessment of a plan looks technologies up where the run grants it, and keeps the sources', async () => {
  const folder = agentsDir(stage.home);
  writeFileSync(
    join(folder, 'technology-researcher.md'),
    '---\nname: technology-researcher\ndescription: Collects practices.\ntools: web_research, read_file\n---\n\nYou search.\n',
  );
  const input: object = JSON.parse(
    inputExamples.riskAssessment.replaceAll('list_ways', 'gather_facts'),
  );
  const technologies = ['Node.js', 'SQLite'];
  const first = await stage.start('riskAssessment', { ...input, technologies, agents_dir: folder });
  expect(await first.result()).toMatchObject({ status: 'assessed' });
  expect(nested()).toHaveLength(2);
  const { effects = [], usage, design } = await storedRecord(stage.home, first.workflowId);
  expect(effects.map(({ effect_id, state }) => `${effect_id} ${state}`).toSorted()).toEqual([
    'research/Node-js/effect-1 confirmed',
    'research/SQLite/effect-1 confirmed',
  ]);
  // Each call is counted once, and those that asked the web are among them.
  expect(usage.calls).toBe(stage.rehearsal.calls().length);
  const found = design?.materials.filter((one) => one.stage === 'research') ?? [];
  for (const { ref } of found) {
    // oxlint-disable-next-line no-await-in-loop
    expect(JSON.parse(await storedText(stage.home, ref))).toMatchObject({
      sources: [
        { url: 'https://rehearsed.example/1', quotation: expect.stringContaining('Rehearsed: ') },
      ],
    });
  }
  const report = readFileSync(join(stage.home, first.workflowId, 'report.md'), 'utf8');
  expect(report).toContain('## Sources that were opened');
  // Found again by a run without the grant: nothing is asked a second time.
  stage.rehearsal.reset();
  const second = await stage.start('riskAssessment', { ...input, technologies });
  expect(await second.result()).toMatchObject({ status: 'assessed' });
  expect(stagesOf(stage.rehearsal.calls()).filter((one) => one.startsWith('research'))).toEqual([]);
  await expectPromisesKept(stage, first.workflowId);
});

it('PLANWAVE_WEB=off takes the tool away, and says so to who grants it', async () => {
  offline.rehearsal.script(script('Is it?'));
  const run = await offline.start('plannerRun', {
    goal: 'Find out',
    agents_dir: agentsDir(offline.home),
  });
  const failure: unknown = await run.result().catch((error: unknown) => error);
  const cause = failure instanceof Error ? failure.cause : undefined;
  expect(String(cause)).toContain('PLANWAVE_WEB=off');
});
