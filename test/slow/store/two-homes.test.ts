import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as PostgresClient } from 'pg';
import type { WorkflowHandle } from '@temporalio/client';
import { ensurePostgres } from '../../../scripts/bootstrap/test-programs.mjs';
import { eventually } from '../../support/eventually.ts';
import { startOwnPostgres } from '../../support/own-postgres.ts';
import type { OwnPostgres } from '../../support/own-postgres.ts';
import { callsOfRun, goal, untilCall } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { held } from '../../support/scripted-work.ts';
import { untilIdle } from '../../support/until-idle.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { runScript, startWorkerProcess } from '../../support/worker-process.ts';

const { stage } = useProcessStages();

let postgres: OwnPostgres;
let folder: string;
beforeAll(async () => {
  postgres = await startOwnPostgres();
  folder = mkdtempSync(join(tmpdir(), 'planwave-homes-'));
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

const runIds = Array.from({ length: 6 }, (_, nth) => `shared-${nth}`);

/** Runs a command of the client to its end, in this process. */
async function planwave(
  args: readonly string[],
  home: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  try {
    const { code, out, err } = await runCommand({ ...stage, home }, args);
    if (code !== 0) throw new Error(`${args.join(' ')}: exit code ${code}: ${out}${err}`);
    return out + err;
  } finally {
    vi.unstubAllEnvs();
  }
}

/** Returns the workers that make the calls in flight of a run's first wave. */
async function listBusy(runId: string): Promise<readonly string[]> {
  const { raw } = await stage.client.workflow.getHandle(`${runId}/wave-001`).describe();
  return (raw.pendingActivities ?? []).flatMap(
    ({ lastWorkerIdentity }) => lastWorkerIdentity ?? [],
  );
}

/** Returns the workers that have carried out activities of a run or of its first wave. */
async function listIdentities(run: WorkflowHandle): Promise<readonly string[]> {
  const wave = stage.client.workflow.getHandle(`${run.workflowId}/wave-001`);
  const histories = await Promise.all([run.fetchHistory(), wave.fetchHistory()]);
  return histories
    .flatMap(({ events }) => events ?? [])
    .flatMap((event) => event.activityTaskStartedEventAttributes?.identity ?? []);
}

it('two workers with separate homes share six runs and one is killed: none is lost, and each call is bought once', async () => {
  const shared = { PLANWAVE_STORE_URL: postgres.url };
  const call = held({ pass: true });
  stage.rehearsal.script(
    runIds.map((runId) => ({
      match: { callKeyIncludes: `${runId}/`, nth: 3 },
      reply: call.reply,
    })),
  );
  const workers = await Promise.all(
    ['first', 'second'].map((name) =>
      startWorkerProcess({ ...stage, home: join(folder, name) }, shared),
    ),
  );
  // One call of each run at a time, so that nothing else is in flight at the kill.
  const input = { goal, use_defaults: true, limits: { max_parallel: 1 } };
  const runs = await Promise.all(runIds.map((runId) => stage.start('plannerRun', input, runId)));
  for (const runId of runIds) await untilCall(stage, runId, 3);
  // The one that makes most of these calls.
  const busy = await Promise.all(runIds.map(listBusy));
  const callsOf = ({ pid }: { readonly pid: number }): number =>
    busy.flat().filter((identity) => identity.startsWith(`${pid}@`)).length;
  const [victim] = workers.toSorted((a, b) => callsOf(b) - callsOf(a));
  if (victim === undefined) throw new Error('There is no worker.');
  victim.signal('SIGKILL');
  expect(await victim.ended).toBe('SIGKILL');
  await eventually('the end of its calls', async () => {
    const cut = stage.rehearsal.calls().filter(({ outcome }) => outcome === 'client-closed');
    return cut.length >= callsOf(victim);
  });
  call.release();

  const results = await Promise.all(runs.map((run) => stage.result(run)));
  expect(results.map(({ status }) => status)).toEqual(runIds.map(() => 'completed'));
  const calls = runIds.map((runId) => callsOfRun(stage, runId));
  const bought = calls.map(
    (all) => all.filter(({ outcome }) => outcome !== 'client-closed').length,
  );
  // The runs are the same, so each buys the same number of replies.
  expect(bought).toEqual(bought.map(() => bought[0]));
  // The fault fired: calls were cut off, and only these were made again.
  const repeated = calls.flat().length - bought.reduce((sum, one) => sum + one, 0);
  expect(repeated).toBeGreaterThan(0);
  expect(repeated).toBeLessThanOrEqual(busy.flat().length);
  const identities = await Promise.all(runs.map(listIdentities));
  expect(new Set(identities.flat()).size).toBe(2);

  // A client with a third home reads the results.
  const third = join(folder, 'third');
  const client = runScript(['report', 'shared-0'], {
    TEMPORAL_ADDRESS: stage.address,
    PLANWAVE_HOME: third,
    ...shared,
  });
  expect(await client.ended).toBe('exit code 0');
  expect(client.output()).toContain(goal.slice(0, 20));
  await planwave(['export', 'shared-0'], third, shared);
  expect(readFileSync(join(third, 'shared-0', 'result.md'), 'utf8')).not.toBe('');
  expect(await planwave(['fsck'], third, shared)).toContain('no damage');

  // What is stored is complete: copied into a home, the promises of files hold.
  const home = join(folder, 'copy');
  const copy = ['store', 'copy', postgres.url, home];
  expect(await planwave(copy, third, shared)).toMatch(
    /^Copied \d+ artifacts, \d+ paid replies, .*read back/m,
  );
  expect(await planwave(copy, third, shared)).toMatch(
    /^Copied 0 artifacts, 0 paid replies, 0 side effects, 0 names, 0 thread entries, 0 shared values, \d+ were/m,
  );
  await planwave(['export', 'shared-1'], home);
  await expectPromisesKept({ ...stage, home }, 'shared-1', { orphans: true });
});

it('a run that waits goes on after its database was lost and restored from a dump', async () => {
  const dumped = postgres.url.replace(/postgres$/, 'dumped');
  const programs = await ensurePostgres();
  const run = (name: string, ...args: readonly string[]): void => {
    // Debian has those of clients on PATH too.
    const program = existsSync(join(programs, name)) ? join(programs, name) : name;
    const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${name}: ${stderr ?? String(error)}`);
  };
  const client = new PostgresClient({ connectionString: postgres.url });
  await client.connect();
  await client.query('CREATE DATABASE dumped');
  const shared = { PLANWAVE_STORE_URL: dumped };
  const before = await startWorkerProcess({ ...stage, home: join(folder, 'before') }, shared);
  const waiting = await stage.start('plannerRun', { goal }, 'restored');
  const question = await eventually(
    'a question',
    async () => (await stage.questions(waiting)).open[0],
  );
  await untilIdle(stage, waiting.workflowId);
  before.signal('SIGKILL');
  await before.ended;
  const file = join(folder, 'dump');
  run('pg_dump', '--format=custom', '--file', file, dumped);
  await client.query('DROP DATABASE dumped WITH (FORCE)');
  await client.query('CREATE DATABASE dumped');
  await client.end();
  run('pg_restore', '--dbname', dumped, file);

  await startWorkerProcess({ ...stage, home: join(folder, 'after') }, shared);
  const answer = { question_id: question.question_id, answer: question.choices[0] };
  await waiting.signal('answer', answer);
  expect((await stage.result(waiting)).status).toBe('completed');
  // Asked, answered: a reply that was lost would have cost a third call.
  expect(callsOfRun(stage, 'restored/wave-001/gather-facts')).toHaveLength(2);
  expect(await planwave(['fsck'], join(folder, 'after'), shared)).toContain('no damage');
});

it('OS4: a run with a folder, whose home was copied into a database, goes on only with that home', async () => {
  const url = postgres.url.replace(/postgres$/, 'moved');
  const client = new PostgresClient({ connectionString: postgres.url });
  await client.connect();
  await client.query('CREATE DATABASE moved');
  await client.end();
  const [home, workspace_dir] = [join(folder, 'old-home'), join(folder, 'of-the-user')];
  mkdirSync(workspace_dir);
  const own = { PLANWAVE_WORKSPACES: folder };
  const before = await startWorkerProcess({ ...stage, home }, own);
  const input = { goal, workspace_dir, changes: 'direct' };
  const run = await stage.start('plannerRun', input, 'moved');
  const question = await eventually('a question', async () => (await stage.questions(run)).open[0]);
  await untilIdle(stage, run.workflowId);
  before.signal('SIGKILL');
  await before.ended;
  await planwave(['store', 'copy', home, url], home);

  const shared = { ...own, PLANWAVE_STORE_URL: url };
  const other = await startWorkerProcess({ ...stage, home: join(folder, 'new-home') }, shared);
  await run.signal('answer', { question_id: question.question_id, answer: question.choices[0] });
  const refusal = await eventually('the refusal', async () => {
    const { raw } = await run.describe();
    return (raw.pendingActivities ?? []).flatMap(
      ({ lastFailure }) => lastFailure?.message ?? [],
    )[0];
  });
  expect(refusal).toMatch(/working copies .* are in the home .*old-home.*Try: .*PLANWAVE_HOME/);
  other.signal('SIGKILL');
  await other.ended;
  await startWorkerProcess({ ...stage, home }, shared);
  expect((await stage.result(run)).status).toBe('completed');
});
