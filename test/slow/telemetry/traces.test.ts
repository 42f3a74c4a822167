import type { Usage } from '../../../contracts/usage.ts';
import { metrics } from '../../../core/metrics/metrics.ts';
import type { Reply } from '../../../rehearsal/script.ts';
import { findFreePort } from '../../../scripts/dev-server/temporal-probe.ts';
import { loadWorkflowBundle } from '../../../worker/bundle-workflows.ts';
import { replayHistories } from '../../../worker/replay-histories.ts';
import { attributeOf, startOtlpReceiver } from '../../support/traces.ts';
import type { OtlpReceiver, ReceivedSpan } from '../../support/traces.ts';
import { goal } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { scrape } from '../../support/scrape.ts';
import type { MetricsPage } from '../../support/scrape.ts';
import { does, gives, leads, taskCriterion, teamWork } from '../../support/scripted-team.ts';
import { triad } from '../../support/scripted-triad.ts';
import {
  completed,
  decision,
  ownWorkflows,
  plan,
  plans,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useOwnServer } from '../../support/use-stage.ts';
import { runScript, stageEnvironment, startWorkerProcess } from '../../support/worker-process.ts';
import type { ScriptProcess } from '../../support/worker-process.ts';

/** A run here continues as new after its first wave. */
const { stage } = useOwnServer([
  '--dynamic-config-value=limit.historyCount.suggestContinueAsNew=15',
]);

const runId = 'traced';

const teamRunId = 'traced-team';

/** In tasks and outputs of members; no span and no line may hold it. */
const words = 'forty-two words that are nobody else his business';
const well = { ...completed(taskCriterion), compact_md: words, effects_claimed: ['a.md'] };

const inTeam = plan([
  teamWork('guide', {
    allow_parallel: true,
    // Long enough for a busy machine, and for a member to rest until the end.
    timeout: 900,
    member_timeout: 600,
    members: [
      { id: 'engineer' },
      { id: 'pair', team_id: 'desk' },
      { id: 'trio', triad: triad('dialectic') },
      { id: 'weak', agent_id: 'analyst' },
    ],
  }),
]);

/** A task that is tried again, a team in the team, a triad in it, and a member that fails until it gets no more tasks. */
const aTeam = [
  plans(1, inTeam),
  ...leads(
    [
      [gives('engineer', words), gives('pair'), gives('trio'), gives('nobody')],
      [1, 2, 3].map((n) => gives('weak', `Fail number ${n}.`)),
      [gives('weak', 'Once more.')],
      { output: { ...completed('guide-done'), effects_claimed: ['a.md'] } },
    ],
    'guide',
  ),
  ...leads([[gives('writer')], { output: completed(taskCriterion) }], 'guide.d2'),
  ...[1, 2, 3].map((nth) => does({ team: 'guide', task: 'd1', nth }, { text: words })),
  does({ team: 'guide', task: 'd1', nth: 4 }, writes('a.md')),
  does({ team: 'guide', task: 'd1' }, { json: well }),
  does({ team: 'guide', agent: 'analyst' }, { status: 400, message: 'not this one' }),
  { match: { schema: 'decision' as const }, reply: { json: decision() } },
];

/** A call that changes something, and so is an activity of its own. */
function writes(path: string): Reply {
  return { tool_use: [{ name: 'write_file', input: { path, content: 'x' } }] };
}

const twoWaves = [
  plans(1, plan([work('first')])),
  plans(2, plan([work('second', { criteria: ['first-done'] })])),
  works('first', { json: unmet('failed', 'Not yet.', 'first-done') }),
  works('second', { json: completed('first-done') }),
  { match: { schema: 'decision' as const, nth: 1 }, reply: { json: decision('first-done') } },
  { match: { schema: 'decision' as const }, reply: { json: decision() } },
];

let receiver: OtlpReceiver;
let worker: ScriptProcess;
let spans: readonly ReceivedSpan[];
let page: MetricsPage;
let teamUsage: Usage;
const endings: string[] = [];

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '100' };
  stage.rehearsal.script(twoWaves);
  const metricsAddress = `127.0.0.1:${await findFreePort()}`;
  worker = await startWorkerProcess(stage, {
    ...traced,
    PLANWAVE_METRICS_ADDRESS: metricsAddress,
    PLANWAVE_LOG: 'json',
    PLANWAVE_LOG_LEVEL: 'debug',
  });
  const environment = { ...stageEnvironment(stage), ...traced };
  const start = runScript(['start', '--id', runId, goal], environment);
  endings.push(await start.ended);
  const { status, waves } = await stage.result(stage.client.workflow.getHandle(runId));
  endings.push(`${status} after ${waves} waves`);
  stage.rehearsal.reset();
  stage.rehearsal.script(aTeam);
  const teams = [{ team_id: 'desk', members: [{ id: 'writer' }] }];
  const limits = { max_waves: 1, ...ownWorkflows };
  const run = await stage.start('plannerRun', { goal, teams, limits }, teamRunId);
  teamUsage = (await stage.result(run)).usage;
  page = await scrape(`http://${metricsAddress}/metrics`);
  worker.signal('SIGTERM');
  endings.push(await worker.ended);
  spans = receiver.spans();
});

afterAll(() => receiver.close());

/** Returns the spans of all workflows and activities of one run. */
function spansOf(id: string): readonly ReceivedSpan[] {
  return spans.filter((span) => attributeOf(span, 'planwave.run') === id);
}

function teamCalls(): readonly ReceivedSpan[] {
  return spansOf(teamRunId).filter(({ name }) => name === 'RunActivity:modelTurn');
}

/** Adds up an attribute over all model calls of the run with the team. */
function addUp(name: string): number {
  return teamCalls().reduce((sum, span) => sum + Number(attributeOf(span, name)), 0);
}

type LogLine = Readonly<Record<string, unknown>>;

function logLines(): readonly LogLine[] {
  const lines = worker.output().split('\n');
  return lines.filter((line) => line.startsWith('{')).map((line): LogLine => JSON.parse(line));
}

it('one run is one trace: from the command over workflows and their continuation to activities', () => {
  expect(endings).toEqual(['exit code 0', 'completed after 2 waves', 'exit code 0']);
  const ofRun = spansOf(runId);
  expect(new Set(ofRun.map(({ traceId }) => traceId)).size).toBe(1);
  const ids = new Set(ofRun.map(({ spanId }) => spanId));
  const roots = ofRun.filter(({ parentSpanId = '' }) => !ids.has(parentSpanId));
  expect(roots.map(({ name }) => name)).toEqual(['StartWorkflow:plannerRun']);
  const counts = new Map<string, number>();
  for (const { name } of ofRun) counts.set(name, (counts.get(name) ?? 0) + 1);
  expect(Object.fromEntries(counts)).toMatchObject({
    'StartWorkflow:plannerRun': 1,
    'ContinueAsNew:plannerRun': expect.any(Number),
    'RunWorkflow:plannerRun': 1 + (counts.get('ContinueAsNew:plannerRun') ?? 0),
    'RunWorkflow:plannerWave': 2,
    'StartActivity:modelTurn': 6,
    'RunActivity:modelTurn': 6,
    'RunActivity:openRun': 1,
  });
});

it('a span says where in the run it is, and holds no text of a person or a model', () => {
  const places = spansOf(runId)
    .filter(({ name }) => name === 'RunActivity:modelTurn')
    .map(({ attributes }) =>
      attributes
        // A busy machine may make a further attempt.
        .filter(({ key }) => key.startsWith('planwave.') && key !== 'planwave.attempt')
        .map(({ key, value }) => `${key}=${Object.values(value).join('')}`)
        .join(' '),
    );
  expect(places.toSorted()).toEqual([
    'planwave.run=traced planwave.wave=1 planwave.delegation=first planwave.turn=1',
    'planwave.run=traced planwave.wave=1 planwave.turn=1',
    'planwave.run=traced planwave.wave=1 planwave.turn=1',
    'planwave.run=traced planwave.wave=2 planwave.delegation=second planwave.turn=1',
    'planwave.run=traced planwave.wave=2 planwave.turn=1',
    'planwave.run=traced planwave.wave=2 planwave.turn=1',
  ]);
  expect(receiver.text()).not.toContain(goal);
  expect(receiver.text()).not.toContain('Not yet.');
});

it('each line of the log is JSON with its run, wave, delegation and turn, and holds no text of theirs', () => {
  const all = logLines();
  const lines = all.filter(({ run }) => run === runId);
  const replies = lines.filter(({ message }) => message === 'the model was called');
  expect(replies).toHaveLength(6);
  expect(replies.find(({ delegation }) => delegation === 'second')).toMatchObject({
    level: 'info',
    run: runId,
    wave: 2,
    turn: 1,
    calls: 1,
    trace_id: spansOf(runId)[0]?.traceId,
  });
  expect(lines.filter(({ message }) => message === 'delegation ended')).toEqual([
    expect.objectContaining({ run: runId, wave: 1, delegation: 'first', status: 'failed' }),
    expect.objectContaining({ run: runId, wave: 2, delegation: 'second', status: 'completed' }),
  ]);
  const aboutWorkflows = all.filter(
    (line) => 'workflowType' in line || 'activityType' in line || 'workflowRunId' in line,
  );
  const runs = [runId, teamRunId];
  expect(aboutWorkflows.filter(({ run }) => !runs.some((one) => one === run))).toEqual([]);
  expect(worker.output()).not.toContain(goal);
  expect(worker.output()).not.toContain('Not yet.');
});

describe('a team in a run', () => {
  const tops: Readonly<Record<string, string>> = {
    'RunWorkflow:delegation': 'delegation',
    'RunWorkflow:plannerWave': 'wave',
  };

  /** Names of the spans above one, from its wave or delegation down, without those that only start another. */
  function pathTo({ parentSpanId }: ReceivedSpan): string[] {
    const above = spansOf(teamRunId).find(({ spanId }) => spanId === parentSpanId);
    if (above === undefined) return [];
    const top = tops[above.name];
    if (top !== undefined) return [top];
    const isStart = /^(?:Start|Continue)/.test(above.name);
    return [...pathTo(above), ...(isStart ? [] : [above.name])];
  }

  it('is one trace, in which each call stands below its member, and each member below its team', () => {
    expect(new Set(spansOf(teamRunId).map(({ traceId }) => traceId)).size).toBe(1);
    const paths = teamCalls().map((span) => {
      const whose = attributeOf(span, 'planwave.task') || attributeOf(span, 'gen_ai.agent.name');
      return `${whose}: ${pathTo(span).join(' > ')}`;
    });
    const trio = 'delegation > invoke_workflow trio > RunWorkflow:triadPhase';
    expect([...new Set(paths)].toSorted()).toEqual([
      'd1: delegation > invoke_agent engineer',
      'd2.d1: delegation > invoke_workflow pair > invoke_agent writer',
      'd2: delegation > invoke_workflow pair',
      `d3: ${trio} > invoke_agent researcher`,
      'd4: delegation > invoke_agent analyst',
      'd5: delegation > invoke_agent analyst',
      'd6: delegation > invoke_agent analyst',
      'leader: delegation',
      'planner: wave',
    ]);
  });

  it('shows each attempt of each member, how it ended and why', () => {
    const names = ['task', 'member', 'kind', 'attempt', 'status'].map((one) => `planwave.${one}`);
    const attempts = spansOf(teamRunId).filter((span) => attributeOf(span, 'planwave.kind') !== '');
    const shown = attempts.map((span) =>
      [...names, 'error.type'].map((name) => attributeOf(span, name)).join(' '),
    );
    expect(shown.toSorted()).toEqual([
      'd1 engineer agent 1 failed invalid_output',
      'd1 engineer agent 2 completed ',
      'd2 pair team 1 completed ',
      'd2.d1 writer agent 1 completed ',
      'd3 trio triad 1 completed ',
      'd4 weak agent 1 failed request_refused',
      'd5 weak agent 1 failed request_refused',
      'd6 weak agent 1 failed request_refused',
    ]);
    expect(attempts.filter(({ status }) => status.code === 2)).toHaveLength(4);
  });

  it('shows which member of a triad took which turn', () => {
    const turns = spansOf(teamRunId).filter((span) => attributeOf(span, 'planwave.role') !== '');
    expect(new Set(turns.map((span) => attributeOf(span, 'planwave.role')))).toEqual(
      new Set(['proposer', 'critic', 'synthesizer']),
    );
    expect(new Set(turns.map((span) => attributeOf(span, 'planwave.task')))).toEqual(
      new Set(['d3']),
    );
  });

  it('calls of the model and of tools say what they are, and what they used adds up', () => {
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = teamUsage;
    expect(addUp('gen_ai.usage.input_tokens')).toBe(
      input_tokens + cache_creation_input_tokens + cache_read_input_tokens,
    );
    expect(addUp('gen_ai.usage.output_tokens')).toBe(teamUsage.output_tokens);
    const [tool] = spansOf(teamRunId).filter(({ name }) => name === 'RunActivity:runTool');
    if (tool === undefined) throw new Error('No tool was called.');
    const names = ['operation.name', 'tool.name', 'agent.name'].map((one) => `gen_ai.${one}`);
    expect([...names, 'planwave.task'].map((name) => attributeOf(tool, name))).toEqual([
      'execute_tool',
      'write_file',
      'engineer',
      'd1',
    ]);
  });

  it('its log names agent, task, member and turn, and what ended, was refused or rests', () => {
    const lines = logLines().filter(({ run }) => run === teamRunId);
    const said = (message: string): readonly LogLine[] =>
      lines.filter((line) => line['message'] === message);
    expect(said('the model was called').find(({ task }) => task === 'd2.d1')).toMatchObject({
      wave: 1,
      delegation: 'guide',
      agent: 'writer',
      turn: 1,
    });
    const place = { wave: 1, delegation: 'guide' };
    const retried = {
      ...place,
      task: 'd1',
      member: 'engineer',
      status: 'completed',
      attempts: 2,
    };
    expect(said('task ended').find(({ task }) => task === 'd1')).toMatchObject(retried);
    expect(said('task ended')).toHaveLength(7);
    expect(said('member rests')).toEqual([expect.objectContaining({ ...place, member: 'weak' })]);
    expect(said('call refused').map(({ reason }) => reason)).toEqual(['member', 'member']);
  });

  it('is counted: how teams and tasks ended, retries, members that rest, refusals', () => {
    expect(page.labels(metrics.teams.name, ['status'])).toEqual({ done: 2 });
    expect(page.labels(metrics.teamTasks.name, ['kind', 'status'])).toEqual({
      'agent completed': 2,
      'agent failed': 3,
      'team completed': 1,
      'triad completed': 1,
    });
    expect(page.labels(`${metrics.teamTaskDuration.name}_count`, ['kind'])).toEqual({
      agent: 5,
      team: 1,
      triad: 1,
    });
    expect(page.sum(metrics.teamRetries.name)).toBe(1);
    expect(page.labels(metrics.teamBreakers.name, ['kind'])).toEqual({ agent: 1 });
    expect(page.labels(metrics.teamRefusals.name, ['reason'])).toEqual({ member: 2 });
  });

  it('no span, line or label holds a text of its leader or members', () => {
    expect(stage.rehearsal.calls().some(({ body }) => JSON.stringify(body).includes(words))).toBe(
      true,
    );
    for (const text of [receiver.text(), worker.output(), page.text]) {
      expect(text).not.toContain(words);
    }
  });
});

it.each([runId, teamRunId])(
  'what %s made with tracing replays without, and with it',
  async (id) => {
    const { client, home } = stage;
    // The command started one of them, the stage the other. That histories replay without is one of the promises.
    const histories = await expectPromisesKept({ client, home, started: [runId, teamRunId] }, id);
    const traced = await loadWorkflowBundle({ traced: true });
    for await (const { fault } of replayHistories(histories, traced)) expect(fault).toBeNull();
  },
);
