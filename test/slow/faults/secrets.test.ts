import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import type { WorkflowHandle } from '@temporalio/client';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import { queryNames } from '../../../contracts/names.ts';
import { eventually } from '../../support/eventually.ts';
import {
  awsSetting,
  findPlanted,
  findPlantedInFiles,
  planted,
  plantedText,
  textsOf,
} from '../../support/planted.ts';
import { fetchHistories } from '../../support/histories.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { openQuestion } from '../../support/asking.ts';
import {
  callsOf,
  completed,
  decision,
  plan,
  planCalls,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';
import { runAt } from '../../support/run-at.ts';
import type { CliOutcome } from '../../support/run-at.ts';

const { stage } = useProcessStages();

/** A worker that has a secret of its own, which no rule knows by its form. */
const ownEnvironment = { ANTHROPIC_API_KEY: planted.own, PLANWAVE_MODEL: 'rehearsal' };

const rules = ['anthropic', 'aws', 'github', 'own-secret', 'privatekey'];

/** The marks in a value, without repetition. */
function marksIn(value: unknown): string[] {
  const marks = [...textsOf(value)].flatMap((text) =>
    [...text.matchAll(/\[redacted:([a-z-]+)\]/g)].map(([, rule = '']) => rule),
  );
  return [...new Set(marks)].toSorted();
}

/** Everything that a run shows to whoever asks: views, what the Web UI's page begins with, and what lists show. */
async function readFields(run: WorkflowHandle): Promise<unknown[]> {
  const queries = [...Object.values(queryNames), '__temporal_workflow_metadata'];
  const views = await Promise.all(queries.map((name) => run.query<unknown>(name)));
  return [...views, (await run.describe()).raw];
}

/** A command as a person types it whose environment has the secret too. */
const cli = (...argv: string[]): Promise<CliOutcome> =>
  runAt(stage.address, argv, {
    deps: {
      env: {
        TEMPORAL_ADDRESS: stage.address,
        PLANWAVE_TASK_QUEUE: stage.taskQueue,
        DEPLOY_TOKEN: planted.own,
      },
    },
  });

/** The rules by which something was taken out of what a person typed, as they are told. */
function noticesIn(err: string): string[] {
  return [...err.matchAll(/secrets? \(([a-z-]+)\) (?:was|were) taken out before sending/g)]
    .map(([, rule = '']) => rule)
    .toSorted();
}

/** The heartbeats and failures of a workflow's activities as the server has them at this moment. */
async function readPending(workflowId: string): Promise<unknown> {
  const { raw } = await stage.client.workflow.getHandle(workflowId).describe();
  return (raw.pendingActivities ?? []).map(({ heartbeatDetails, lastFailure }) => [
    ...(heartbeatDetails?.payloads ?? []),
    lastFailure,
  ]);
}

const leaky = {
  ...completed('leaky-done'),
  compact_md: `Found: ${plantedText}`,
  detailed_md: `# Found\n\n${plantedText}\n${'and so on '.repeat(200)}`,
};

it('fault 53: secrets in goal, answer, reply, tool output and error text are in no log, history, artifact or view', async () => {
  const worker = await startWorkerProcess(stage, ownEnvironment);
  const load = { name: 'load_detail', input: { detail_id: 'leaky', page: 1 } };
  stage.rehearsal.script([
    plans(1, plan([], [question(`Which of these?\n${planted.github}`)])),
    plans(
      2,
      plan([work('leaky'), work('reader', { depends_on: ['leaky'], required_inputs: ['leaky'] })]),
    ),
    works('leaky', { status: 529, message: `Overloaded by ${plantedText}` }, 1),
    // Long enough for a busy machine to look at it while it comes.
    works('leaky', { json: leaky, thinkMs: 20_000 }, 2),
    works('reader', { text: '', tool_use: [load] }, 1),
    works('reader', { json: { ...completed('reader-done'), compact_md: plantedText } }, 2),
    {
      match: { schema: 'decision' },
      reply: { json: { ...decision(), wave_compact: plantedText } },
    },
  ]);

  const run_id = 'leaking';
  const start = await cli('start', `Deploy with ${plantedText}`, '--id', run_id);
  expect(start).toMatchObject({ code: 0, out: expect.stringContaining('Started') });
  expect(noticesIn(start.err)).toEqual(rules);
  const run = stage.client.workflow.getHandle(run_id);
  const asked = await openQuestion(stage, run);
  expect(marksIn(asked)).toEqual(['github']);
  const amended = await cli('amend', run_id, `Use ${planted.own}`, '--json');
  expect(noticesIn(amended.err)).toEqual(['own-secret']);
  expect(amended.out).toContain('Use [redacted:own-secret]');
  const answered = await cli('answer', run_id, 'q1', `this: ${awsSetting}`);
  expect(noticesIn(answered.err)).toEqual(['aws']);

  // While it works: the failed attempt, then the words of the stream.
  const ofLeaky = `${run_id}/wave-001`;
  const pending: unknown[] = [];
  await eventually('a failed attempt', async () => {
    const now = await readPending(ofLeaky).catch(() => []);
    pending.push(now);
    return [...textsOf(now)].some((text) => text.includes('Overloaded by'));
  });
  await eventually('words of the stream', async () => {
    const now = await readPending(ofLeaky);
    pending.push(now);
    return [...textsOf(now)].some((text) => /"last_words":"[^"]*and so/.test(text));
  });

  expect((await stage.result(run)).status).toBe('completed');

  // The secrets were there: in what each call was answered, and in what a model read, as marks.
  expect(callsOf(stage.rehearsal, 'leaky').map(({ replyStatus }) => replyStatus)).toEqual([
    529, 200,
  ]);
  expect(callsOf(stage.rehearsal, 'reader')).toHaveLength(2);
  expect(marksIn(planCalls(stage.rehearsal)[0]?.body)).toEqual(rules);
  expect(marksIn(callsOf(stage.rehearsal, 'reader')[1]?.body)).toEqual(rules);
  expect(marksIn(readFileSync(join(stage.home, run_id, 'report.md'), 'utf8'))).toEqual(rules);

  worker.signal('SIGTERM');
  expect(await worker.ended).toBe('exit code 0');
  await stage.startWorker();
  const histories = await fetchHistories(stage.client, run_id);
  expect([
    ...findPlantedInFiles(stage.home),
    ...histories.flatMap(({ workflowId, history }) => findPlanted(workflowId, history)),
    ...findPlanted('fields', await readFields(run)),
    ...findPlanted('pending', pending),
    ...findPlanted('log', worker.output()),
    ...findPlanted('terminal', [start, amended, answered]),
    ...findPlanted('calls', stage.rehearsal.calls()),
  ]).toEqual([]);
  expect(marksIn(histories.map(({ history }) => history))).toEqual(rules);
  await expectPromisesKept(stage, run_id);
});

it('part of fault 53: an error of the provider that ends a delegation, and a secret that went past the client', async () => {
  const worker = await startWorkerProcess(stage, ownEnvironment);
  stage.rehearsal.script([
    { reply: { status: 400, message: `${'Bad request. '.repeat(19)}${planted.own}` } },
  ]);
  // As the Temporal CLI would send it.
  const run = await stage.start(
    'delegation',
    { agent_id: 'writer', task_description: `Write about ${planted.github}` },
    'refused',
  );
  const outcome: DelegationOutcome = await run.result();
  expect(outcome.status).toBe('failed');
  // What the provider says is cut at 300 characters, in the midst of where the secret was.
  expect(outcome.reason).toContain('Bad request. [redacted:own-secret]');
  worker.signal('SIGTERM');
  await worker.ended;

  const [started, ...events] = (await run.fetchHistory()).events ?? [];
  // The server has it before any code of the engine runs. From there it goes nowhere.
  expect(findPlanted('input', started)).not.toEqual([]);
  expect([
    ...findPlantedInFiles(stage.home),
    ...findPlanted('history', events),
    ...findPlanted('log', worker.output()),
  ]).toEqual([]);
  await stage.startWorker();
  await expectPromisesKept(stage, 'refused');
});
