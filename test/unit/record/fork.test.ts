import type { RunRecord, StoredWave } from '../../../contracts/run-record.ts';
import { offerFork } from '../../../activities/run-record/fork-run.ts';
import { explainNoFork, forkRecord } from '../../../core/run/fork-record.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { samplePlan } from '../../support/plans.ts';
import { tasksCrashedQuestion } from '../../../core/run/crashed-tasks.ts';
import { fileWorkspaces } from '../../support/file-workspaces.ts';
import { useHarness } from './harness.ts';
import { answered, delegation, outcome, question, wave as doneWave } from './samples.ts';

const harness = useHarness();

let empty: RunRecord;
beforeEach(async () => {
  empty = await (await harness.begin('origin')).record();
});

const spent = { ...noUsage, calls: 3, input_tokens: 40 };
const ended = (wave: number): StoredWave => ({
  wave,
  status: 'decided',
  plan_ref: null,
  outcomes: [],
  decision_ref: null,
  usage: spent,
  planned_at: 1,
  done_at: 2,
  shown: null,
});
type Effect = NonNullable<RunRecord['effects']>[number];
const effect = (effect_id: string, state: Effect['state']): Effect => ({
  effect_id,
  wave: 1,
  delegation_id: 'draft',
  agent_id: 'writer',
  tool: 'write_file',
  arguments_ref: 'a'.repeat(64),
  state,
  target: 'a.md',
  receipt: null,
  reason: '',
  approval_question_id: null,
  updated_at: 2,
});

const applied: NonNullable<RunRecord['settled_changes']> = {
  state: 'applied',
  note: '',
  dir: '/folder',
  files: [{ path: 'a.md', change: 'added' }],
  files_total: 1,
  lines_added: 1,
  lines_removed: 0,
  delegations: [],
  patch_ref: 'b'.repeat(64),
};

/** Returns why two of its waves can't be gone on from. */
const why = (over: Partial<RunRecord>, wave = 3): string | null => {
  const record = { ...empty, waves: [ended(1), ended(2)], ...over };
  return explainNoFork({ ...record, waves: record.waves.slice(0, wave - 1) }, record, wave);
};

describe('GO4', () => {
  it('a run is forked before any wave whose earlier waves have ended', () => {
    expect([2, 3].map((wave) => why({}, wave))).toEqual([null, null]);
  });

  it('a wave that is at work or was never planned is named, with the wave that can be chosen', () => {
    const working = { ...ended(2), done_at: null };
    expect(why({ waves: [ended(1), working] })).toMatch(
      /^Wave 2 of origin is still at work. Try: /,
    );
    expect(why({}, 5)).toMatch(/^origin has no wave 5: 2 of its waves have ended. Try: .*--wave 3/);
    expect(why({ waves: [] }, 2)).toMatch(/Try: wait until its first wave has ended$/);
  });

  it('a wave that was taken over is forked from the run that did it', () => {
    const origin = { run_id: 'first', wave: 3, reused: noUsage };
    expect(why({ origin }, 2)).toMatch(/^origin took wave 2 over from first. Try: .*fork first/);
    expect(why({ origin }, 3)).toBeNull();
  });

  it('changes in copies of a folder are only in the run that made them, until they are applied', () => {
    const changed = { workspace_dir: '/folder', effects: [effect('e1', 'confirmed')] };
    expect(why(changed)).toMatch(/in copies of the folder that only origin has. Try: .*apply/);
    const inFolder = { ...changed, settled_changes: applied };
    expect(why(inFolder)).toBeNull();
    expect(why(inFolder, 2)).toMatch(/in copies of the folder/);
    expect(why({ ...changed, changes: 'direct' })).toBeNull();
    expect(why({ ...changed, effects: [effect('e1', 'failed')] })).toBeNull();
  });
});

it('GO2, GO3: what the other run paid stands in the origin; what is not certain stays with it', () => {
  const before = {
    ...empty,
    waves: [ended(1)],
    effects: [effect('e1', 'confirmed'), effect('e2', 'intended')],
    open_questions: [],
  };
  const record = forkRecord(before, { ...empty, run_id: 'fork' }, 2);
  expect(record).toMatchObject({
    run_id: 'fork',
    origin: { run_id: 'origin', wave: 2, reused: { calls: 3, input_tokens: 40 } },
    usage: { calls: 0 },
  });
  expect(record.waves).toEqual([{ ...ended(1), usage: noUsage }]);
  expect(record.effects?.map(({ effect_id }) => effect_id)).toEqual(['e1']);
});

it('the questions of a fork are numbered after all of the other run, also when some were withdrawn', async () => {
  const run = await harness.begin('asked');
  await run.apply(
    { type: 'question_opened', question: question('q1') },
    { type: 'question_withdrawn', question_id: 'q1' },
    { type: 'question_opened', question: question('q2') },
    { type: 'question_answered', answered: answered('q2'), answer_ref: null },
    { type: 'wave_done', wave: doneWave(1, {}), criteria: [] },
  );
  const fork = { goal: 'Go on', from: { run_id: 'asked', wave: 2 } };
  const { taken_over } = await harness.open('plannerRun', fork);
  expect(taken_over).toMatchObject({ answered: { q2: {} }, next_question: 3 });
});

it('GO6: a fork of a designed run asks about a task that crashed, and keeps what is wanted again', async () => {
  const run = await harness.begin('crashed');
  const ref = await harness.deps.store.put(JSON.stringify(samplePlan()));
  const designed = { status: 'approved', approved_by: null, materials: [], findings: [] } as const;
  const progress = { ...designed, plan_refs: [ref], usage: noUsage };
  const end = { status: 'failed', reason: 'It broke off.', crashes: 3 } as const;
  const outcomes = [await outcome(harness, delegation('rates'), null, end)];
  await run.apply(
    { type: 'designed', progress },
    { type: 'wave_done', wave: doneWave(1, { outcomes }), criteria: [] },
  );
  const fork = { goal: 'Go on', from: { run_id: 'crashed', wave: 2 } };
  const { taken_over } = await harness.open('plannerRun', fork);
  expect(taken_over?.unjudged?.crashed).toMatchObject([{ delegation_id: 'rates' }]);
  expect(taken_over).not.toHaveProperty('again');

  const asked = tasksCrashedQuestion(taken_over?.unjudged?.crashed ?? []);
  await run.apply(
    { type: 'question_opened', question: question('q1', { ...asked, kind: 'planner_stuck' }) },
    { type: 'question_answered', answered: answered('q1', { answer: 'retry' }), answer_ref: null },
  );
  expect((await harness.open('plannerRun', fork)).taken_over).toMatchObject({
    again: ['rates'],
    unjudged: { crashed: [] },
    recent_answers: [{ question_id: 'q1', answer: 'retry' }],
  });
});

/** Reads the input that a fork is offered of a run that a start command with a place began. */
const offered = async (input: object) => {
  const { record_ref } = await harness.openRun({
    workflow_type: 'plannerRun',
    run_id: 'placed',
    input: { goal: 'Compare', ...input },
    load: { priority: 1, tenant: 'acme' },
    started_at: 1,
  });
  const wave = { type: 'wave_done', wave: doneWave(1, {}), criteria: [] } as const;
  await harness.updateRecord({ run_id: 'placed', record_ref, changes: [wave], now: 2 });
  return (await offerFork(harness.deps, { run_id: 'placed', wave: 2 })).input;
};

it('a fork is offered the place in the queues that only the start command gave; the input of the other run wins', async () => {
  expect(await offered({})).toEqual({ goal: 'Compare', priority: 1, tenant: 'acme' });
  expect(await offered({ tenant: 'beta' })).toMatchObject({ priority: 1, tenant: 'beta' });
});

it('GO5: a fork begins with the files of the other run’s own folder, as work of its own, and keeps what it changes', async () => {
  const run = await harness.begin('origin');
  await run.apply({ type: 'wave_done', wave: doneWave(1, {}), criteria: [] });
  const files = fileWorkspaces(harness.home);
  const [own, taken] = [
    { run_id: 'origin', dir: null },
    { run_id: 'fork', dir: null },
  ] as const;
  const read = async () => String(Buffer.from((await files.read(taken, 'a/report.md')).content));
  await files.write(own, 'a/report.md', 'Of the first wave');
  const input = { goal: 'Go on', from: { run_id: 'origin', wave: 2 } };
  await harness.begin('fork', input);
  expect(await read()).toBe('Of the first wave');
  expect(await files.look(taken, 'a/report.md')).toMatchObject({ by_run: true });
  await files.write(taken, 'a/report.md', 'Of the fork');
  await files.write(own, 'a/report.md', 'Of the other run');
  // Its intake is repeated after a crash.
  await harness.begin('fork', input);
  expect(await read()).toBe('Of the fork');
});
