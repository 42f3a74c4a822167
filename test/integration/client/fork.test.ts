import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { RunRecord } from '../../../contracts/run-record.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import type { RecordedCall, ScriptRule } from '../../../rehearsal/script.ts';
import { openQuestion } from '../../support/asking.ts';
import { callsOfRun } from '../../support/process-stage.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import {
  blocked,
  completed,
  held,
  newestText,
  notYet,
  plan,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const fact = { statement: 'The disk holds a year.', confidence: 'low' } as const;
const step = (id: string) => plan([work(id, { criteria: [`${id}-done`, 'goal-1'] })]);
const last = plan([work('last', { criteria: ['goal-1'] })]);

/** Three waves. The first asks the user; only the last meets the user's own criterion. */
function script(): void {
  stage.rehearsal.script([
    planOf('orig/wave-001', { json: step('facts') }),
    planOf('orig/wave-002', { json: step('draft') }),
    { match: { schema: 'plan' }, reply: { json: last } },
    works('facts', { json: blocked([question('Which region?')], 'facts-done', 'goal-1') }, 1),
    works('facts', { json: { ...notYet('facts'), assumptions_made: [fact] } }),
    works('draft', { json: notYet('draft') }),
    works('last', { json: completed('goal-1') }),
  ]);
}

/** A call that is made again has the same key, so a slow machine plans the same. */
function planOf(callKeyIncludes: string, reply: ScriptRule['reply']): ScriptRule {
  return { match: { callKeyIncludes, schema: 'plan' }, reply };
}

/** As Temporal's start command gives it: the input does not have it. */
const place = { priorityKey: 1, fairnessKey: 'acme' };

async function startOriginal(runId: string): Promise<WorkflowHandle> {
  const run = await stage.start(
    'plannerRun',
    {
      goal: 'Host the backup',
      criteria: ['The backup was restored once.'],
      constraints: ['No tape.'],
      limits: { max_waves: 3 },
    },
    runId,
    place,
  );
  await openQuestion(stage, run);
  await run.signal('answer', { question_id: 'q1', answer: 'Frankfurt' });
  return run;
}

function wavesOf(calls: readonly RecordedCall[]): string[] {
  return [...new Set(calls.map(({ callKey }) => callKey.split('/')[1] ?? ''))].toSorted();
}

async function fork(...argv: readonly string[]) {
  const { code, out, err } = await runCommand(stage, ['fork', ...argv]);
  return { code, out, err };
}

async function ended(runId: string): Promise<RunRecord> {
  const handle = stage.client.workflow.getHandle(runId);
  expect(await stage.result(handle)).toMatchObject({ status: 'completed' });
  return storedRecord(stage.home, runId);
}

it('GO1, GO2: a fork of three waves at wave 2 buys only what comes from wave 2 on, with an instruction', async () => {
  script();
  const original = await startOriginal('orig');
  expect(await stage.result(original)).toMatchObject({ status: 'completed', waves: 3 });
  const before = await storedRecord(stage.home, 'orig');

  const refused = await fork('orig', '--wave', '2');
  expect(refused.code).toBe(2);
  expect(refused.err).toMatch(
    /^Taken over from orig, not paid again: wave 1 with 1 delegation \(\d/,
  );
  expect(refused.err).toMatch(/From wave 2 on, orig took \d+ calls.*\n.*--yes has to confirm/);

  const started = await fork(
    'orig',
    '--wave',
    '2',
    '--amend',
    'Use no cloud.',
    '--id',
    'forked',
    '--yes',
    '--json',
  );
  expect(started.err).toBe('');
  expect(JSON.parse(started.out)).toMatchObject({
    run_id: 'forked',
    from: 'orig',
    wave: 2,
    reused: { delegations: 1, usage: before.waves[0]?.usage },
    expected: { delegations: 2, ended: true },
  });
  const record = await ended('forked');

  const calls = callsOfRun(stage, 'forked');
  expect(wavesOf(calls)).toEqual(['wave-002']);
  expect(calls).toHaveLength(record.usage.calls);
  expect(record).toMatchObject({
    goal: 'Host the backup',
    constraints: ['No tape.'],
    instructions: ['Use no cloud.'],
    origin: { run_id: 'orig', wave: 2, reused: before.waves[0]?.usage },
    load: { priority: 1, tenant: 'acme' },
  });
  expect(record.waves.map(({ wave }) => wave)).toEqual([1, 2]);
  expect(record.waves[0]).toEqual({
    ...before.waves[0],
    usage: noUsage,
    outcomes: before.waves[0]?.outcomes.map((one) => ({ ...one, usage: noUsage })),
  });
  expect(record.answered_questions).toEqual(before.answered_questions);
  expect(record.facts).toEqual(expect.arrayContaining(before.facts.slice(0, 2)));
  // The planner reads the wave that was taken over, the answer and the instruction.
  const [planning] = calls;
  for (const known of ['facts', 'Frankfurt', 'Use no cloud.', 'The disk holds a year.']) {
    expect(JSON.stringify(planning?.body)).toContain(known);
  }
  const { out: report } = await runCommand(stage, ['report', 'forked', '--full']);
  expect(report).toContain('Taken over from `orig`: everything before wave 2');
  const page = join(stage.home, 'forked.html');
  await runCommand(stage, ['report', 'forked', '--html', page]);
  expect(readFileSync(page, 'utf8')).toContain('Taken over from <code>orig</code>');
  const { out: compared } = await runCommand(stage, ['compare', 'orig', 'forked']);
  expect(compared).toMatch(/^waves +3 +2$/m);
  expect(compared).toContain('-  draft by');
  await expectPromisesKept(stage, 'forked');
});

it('GO3: an open run is forked while it works; its open questions stay with it', async () => {
  const gate = held({ json: step('draft') });
  stage.rehearsal.script([
    planOf('open/wave-001', { json: step('facts') }),
    planOf('open/wave-002', gate.reply),
    planOf('second-try/', { json: last }),
    planOf('third/', { json: plan([work('price')]) }),
    { match: { schema: 'plan' }, reply: { json: last } },
    works('facts', { json: blocked([question('Which region?')], 'facts-done', 'goal-1') }, 1),
    works('facts', { json: notYet('facts') }),
    works('draft', { json: notYet('draft') }),
    works('last', { json: completed('goal-1') }),
    works('price', { json: completed('price-done') }),
  ]);
  const original = await startOriginal('open');
  const early = await fork('open', '--wave', '3', '--yes');
  expect(early).toMatchObject({ code: 2 });
  expect(early.err).toMatch(/^open has no wave 3|Wave \d of open is still at work/);
  await eventually('the end of wave 1', async () => {
    const { waves } = await storedRecord(stage.home, 'open');
    return (waves[0]?.done_at ?? null) !== null;
  });
  const { err, out } = await fork('open', '--wave', '2', '--id', 'second-try', '--yes');
  expect(err).toBe('');
  expect(out).toMatch(/open has not ended: from wave 2 on, it has taken .* so far\n/);
  const record = await ended('second-try');
  expect(wavesOf(callsOfRun(stage, 'second-try'))).toEqual(['wave-002']);
  expect(record.open_questions).toEqual([]);

  // A fork of the fork goes back no further than where that began, and on from its end only with new input.
  const tooEarly = await fork('second-try', '--wave', '9', '--yes');
  expect(tooEarly.err).toMatch(
    /^second-try has no wave 9: 2 of its waves have ended. Try: .*--wave 3/,
  );
  await fork('second-try', '--wave', '3', '--amend', 'Name the price.', '--id', 'third', '--yes');
  const third = await ended('third');
  expect(third.waves.map(({ wave }) => wave)).toEqual([1, 2, 3]);
  const [prompt] = callsOfRun(stage, 'third');
  expect(newestText(prompt)).toContain('Name the price.');
  expect(await fork('third', '--wave', '2', '--yes')).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /^third took wave 2 over from second-try. Try: .*fork second-try --wave 2/,
    ),
  });
  gate.release();
  await stage.result(original);
});

it('GO4: what can not be forked is refused with the reason, before anything is started', async () => {
  expect(await fork('nobody', '--wave', '2', '--yes')).toMatchObject({
    code: 4,
    err: expect.stringMatching(/^There is no run "nobody".*another store, or was pruned/),
  });
  const run = await stage.start('plannerRun', { goal: 'x', from: { run_id: 'nobody', wave: 1 } });
  await expect(stage.result(run)).rejects.toMatchObject({
    cause: { message: expect.stringContaining('from.wave: before wave 2 there is nothing') },
  });
  const other = await stage.start('plannerRun', { goal: 'x', from: { run_id: 'nobody', wave: 2 } });
  await expect(stage.result(other)).rejects.toMatchObject({
    cause: { message: expect.stringContaining('from: There is no run "nobody".') },
  });
});
