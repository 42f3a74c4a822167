import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileProjection } from '../../../activities/adapters/file-projection.ts';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import { createVerificationActivities } from '../../../activities/verification/create-verification-activities.ts';
import { readRecord } from '../../../activities/artifacts/record-log.ts';
import { listFiles } from '../../../activities/projection/list-files.ts';
import { projectRun } from '../../../activities/projection/project-run.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { Ref } from '../../../contracts/ref.ts';
import type { VerificationOutcome } from '../../../contracts/verification.ts';
import type { RunRecord } from '../../../contracts/run-record.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { someRef } from '../../support/factories.ts';
import { fileWorkspaces } from '../../support/file-workspaces.ts';
import { outcome } from '../core/builders.ts';
import { createBench, runIn } from './bench.ts';

const rates = 'rates_1727539200';
const page = 'page_1727539201';

const design: NonNullable<RunRecord['design']> = {
  status: 'approved',
  materials: [],
  plan_refs: [],
  plan_agents: [
    { agent_name: 'till_agent', task_ids: [rates, page] },
    { agent_name: 'architect_agent', decides: true, task_ids: [] },
  ],
  findings: [],
  approved_by: null,
  usage: noUsage,
};

const criteriaIn = (state: 'open' | 'met'): RunRecord['criteria'] => [
  { criterion_id: 'rates-done', description: 'Rates.', delegation_id: null, state, note: '' },
];

/** A run of a plan in which two tasks are of one agent. @param waves Those that have ended. */
async function createVerifier(waves: RunRecord['waves'] = []) {
  const home = await mkdtemp(join(tmpdir(), 'planwave-results-'));
  const bench = await createBench({ record: { design, waves } });
  const { store, record_ref } = bench;
  const worktrees = createGitWorktrees({ home });
  const projection = createFileProjection({ home });
  const { recordVerification } = createVerificationActivities({
    store,
    projection,
    worktrees,
    workspaces: fileWorkspaces(home, undefined, worktrees),
    commands: null,
  });
  const evidence_ref = await store.put(JSON.stringify({ checks: [], diff: '' }));
  const verify = async (delegation_id: string, verdict: 'pass' | 'fail') => {
    const missing_evidence = verdict === 'fail' ? ['A test of it'] : [];
    const reply = { verdict, missing_evidence, reviewed_notes: [] };
    const verdict_ref = await store.put(JSON.stringify(reply));
    return runIn(bench.env(), recordVerification, {
      run_id: 'my-run',
      delegation_id,
      agent_id: 'engineer',
      record_ref,
      evidence_ref,
      verdict_ref,
      failure: '',
      now: 1_727_539_300,
    });
  };
  /** The task whose failure is shown in the folder of an agent; null where none is. */
  const shownFor = (agent_name: string): unknown => {
    const path = join(home, 'my-run/agents', agent_name, 'verification_results.json');
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).task_id : null;
  };
  /** Projects the record whose criterion was in one state and is in another. */
  const project = async (before: 'open' | 'met', after: 'open' | 'met'): Promise<void> => {
    const record = await readRecord(store, record_ref);
    const since = { ...record, criteria: criteriaIn(before) };
    await projectRun({ ...record, criteria: criteriaIn(after) }, store, projection, { since });
  };
  /** Projects a record with a failure of `rates`: as a whole, or because its criterion was met before. */
  const projectFailure = async (scope: 'all' | 'anew' | 'changed', results_ref: Ref) => {
    const verification = judgedAs('abandoned', results_ref);
    const ended = [endedWave(1, [{ ...failure, verification }])];
    const record = {
      ...(await readRecord(store, record_ref)),
      waves: ended,
      criteria: criteriaIn('open'),
    };
    const since = { ...record, criteria: criteriaIn('met') };
    await projectRun(record, store, projection, scope === 'changed' ? { since } : scope);
  };
  return { verify, shownFor, project, projectFailure };
}

it('a failure is shown until the task passes, also when another task of its agent passes before', async () => {
  const { verify, shownFor } = await createVerifier();
  await verify(rates, 'fail');
  await verify(page, 'pass');
  expect(shownFor('till_agent')).toBe(rates);
  await verify(rates, 'pass');
  expect(shownFor('till_agent')).toBeNull();
});

it('the failure of a task that ended in an earlier wave goes with the next pass of its agent', async () => {
  const ended = { wave: 1, status: 'decided', plan_ref: null, decision_ref: null } as const;
  const times = { usage: noUsage, planned_at: 1, done_at: 2, shown: null };
  const { verify, shownFor } = await createVerifier([
    { ...ended, ...times, outcomes: [outcome(rates, { status: 'failed' })] },
  ]);
  await verify(rates, 'fail');
  await verify(page, 'pass');
  expect(shownFor('till_agent')).toBeNull();
});

const endedWave = (wave: number, outcomes: DelegationOutcome[]): RunRecord['waves'][number] => ({
  wave,
  status: 'decided',
  plan_ref: null,
  decision_ref: null,
  usage: noUsage,
  planned_at: 1,
  done_at: 2,
  shown: null,
  outcomes,
});

const judgedAs = (status: VerificationOutcome['status'], results_ref: Ref) => ({
  verified_by: 'reviewer',
  status,
  attempts: 1,
  results_refs: [results_ref],
  output_ref: null,
});

/** A delegation whose output was judged. */
const judged = (id: string, status: VerificationOutcome['status'], unmet: string[] = []) =>
  outcome(id, {
    status: status === 'verified' ? 'completed' : 'failed',
    criteria_unmet: unmet,
    verification: judgedAs(status, someRef),
  });

const listed = async (waves: RunRecord['waves'], state: 'open' | 'met' = 'open') => {
  const bench = await createBench({ record: { design, waves } });
  const record = await readRecord(bench.store, bench.record_ref);
  const files = listFiles({ ...record, criteria: criteriaIn(state) });
  return files.map(({ path }) => path).filter((path) => path.includes('verification_results'));
};

const shown = 'agents/till_agent/verification_results.json';
const failure = judged(rates, 'abandoned', ['rates-done']);

it('the record shows a failure in the folder of its agent, and an export writes it', async () => {
  expect(await listed([endedWave(1, [failure, judged(page, 'verified')])])).toEqual([shown]);
  expect(await listed([endedWave(1, [judged(rates, 'unverified')])])).toEqual([shown]);
});

it('and no more when the evidence is there, or the agent passes with another output', async () => {
  expect(await listed([endedWave(1, [failure])], 'met')).toEqual([]);
  expect(await listed([endedWave(1, [failure]), endedWave(2, [judged(page, 'verified')])])).toEqual(
    [],
  );
  expect(await listed([endedWave(1, [outcome(rates)])])).toEqual([]);
});

it.each([page, rates])(
  'its file goes with it only while it is its own, here of %s',
  async (task) => {
    const { verify, shownFor, project } = await createVerifier([endedWave(1, [failure])]);
    await verify(task, 'fail');
    await project('open', 'met');
    expect(shownFor('till_agent')).toBe(task === rates ? null : page);
  },
);

it.each([
  ['changed', page],
  ['all', page],
  ['anew', rates],
] as const)('a failure of the record, shown %s, leaves that of %s', async (scope, left) => {
  const { verify, shownFor, projectFailure } = await createVerifier();
  const { results_ref } = await verify(rates, 'fail');
  await verify(page, 'fail');
  await projectFailure(scope, results_ref);
  expect(shownFor('till_agent')).toBe(left);
});

it("the failure of a solution architect's decision is shown beside its other files", async () => {
  const { verify, shownFor } = await createVerifier();
  await verify('decision_w1n1_1727539200', 'fail');
  expect(shownFor('architect_agent')).toBe('decision_w1n1_1727539200');
});
