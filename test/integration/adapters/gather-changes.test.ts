import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createFileRunIndex } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { createRunChanges } from '../../../activities/adapters/git/git-run-changes.ts';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import { createRunChanges as createCliChanges } from '../../../scripts/run-changes.ts';
import { createGitFixture, put } from '../../support/git-fixture.ts';
import { createBench } from '../../unit/activities/bench.ts';

const before = 'one\ntwo\nthree\n';

/** A run whose team `fix` has done tasks; each changes `a.txt`, or the files that it names. */
async function createTeam(tasks: Readonly<Record<string, string>>) {
  const { home, dir } = createGitFixture({ 'a.txt': before, 'b.txt': 'b\n' });
  const worktrees = createGitWorktrees({ home });
  const of = (delegation_id: string, foundations: readonly string[] = []) => ({
    run_id: 'my-run',
    dir,
    worker: { delegation_id, foundations },
  });
  const open = async (...at: Parameters<typeof of>) => (await worktrees.open(of(...at))) ?? '';
  const read = async (...at: Parameters<typeof of>) =>
    readFileSync(join(await open(...at), 'a.txt'), 'utf8');
  for (const [id, text] of Object.entries(tasks)) {
    // oxlint-disable-next-line no-await-in-loop
    put(await open(`fix.${id}`), { 'a.txt': text });
  }
  const folder = { run_id: 'my-run', dir, delegation_ids: ['fix'], results_folders: [], home };
  return { worktrees, of, open, read, folder, changes: createRunChanges({ home }) };
}

describe.each([
  ['has read files before', true],
  ['has no copy yet', false],
])('the copy of a team whose leader %s', (_case, isThere) => {
  const ended = async () => {
    const team = await createTeam({ d1: 'ONE\ntwo\nthree\n', d2: 'one\ntwo\nTHREE\n' });
    if (isThere) put(await team.open('fix'), { 'b.txt': 'B\n' });
    await team.worktrees.gatherTasks(team.of('fix', ['fix.d1', 'fix.d2']), []);
    return team;
  };

  it('has the changes of its tasks when the team has ended: a verifier and a further attempt begin with them', async () => {
    const { worktrees, of, open, read } = await ended();
    expect(await read('fix')).toBe('ONE\ntwo\nTHREE\n');
    expect(await worktrees.listTouched(of('fix'))).toContainEqual({
      change: 'changed',
      path: 'a.txt',
    });
    expect(await worktrees.diff(of('fix'))).toContain('+THREE');
    rmSync(dirname(await open('fix')), { recursive: true });
    expect(await read('fix')).toBe('ONE\ntwo\nTHREE\n');
  });

  it('keeps them when its lines are changed once more, and each size counts once', async () => {
    const { worktrees, of, open, read, folder, changes } = await ended();
    put(await open('fix'), { 'a.txt': 'MENDED\ntwo\nTHREE\n' });
    await worktrees.gatherTasks(of('fix', ['fix.d1', 'fix.d2']), []);
    expect(await read('fix')).toBe('MENDED\ntwo\nTHREE\n');
    const proposed = await changes.propose(folder);
    expect(proposed?.patch).toContain('+MENDED');
    expect(proposed?.delegations).toMatchObject([
      { delegation_id: 'fix', files_total: isThere ? 2 : 1 },
      { delegation_id: 'fix.d1', lines_added: 1 },
      { delegation_id: 'fix.d2', lines_added: 1 },
    ]);
  });
});

it('a leader works on top of its completed tasks while its team is at work, and a later one comes in', async () => {
  const { open, read } = await createTeam({ d1: 'ONE\ntwo\nthree\n', d2: 'one\ntwo\nTHREE\n' });
  expect(await read('fix')).toBe(before);
  expect(await read('fix', ['fix.d1'])).toBe('ONE\ntwo\nthree\n');
  put(await open('fix', ['fix.d1']), { 'a.txt': 'LEADER\ntwo\nthree\n' });
  expect(await read('fix', ['fix.d1'])).toBe('LEADER\ntwo\nthree\n');
  expect(await read('fix', ['fix.d1', 'fix.d2'])).toBe('LEADER\ntwo\nTHREE\n');
});

it('a leader gets what a task changes when a reset run does it again, and what a task of its team does', async () => {
  const { worktrees, of, open, read } = await createTeam({ d1: 'FIRST\ntwo\nthree\n' });
  expect(await read('fix', ['fix.d1'])).toBe('FIRST\ntwo\nthree\n');
  put(await open('fix.d1'), { 'a.txt': 'SECOND\ntwo\nthree\n' });
  expect(await read('fix', ['fix.d1'])).toBe('SECOND\ntwo\nthree\n');
  put(await open('fix.d1.d1'), { 'b.txt': 'B\n' });
  await worktrees.gatherTasks(of('fix.d1', ['fix.d1.d1']), []);
  await open('fix', ['fix.d1']);
  expect(await worktrees.listTouched(of('fix'))).toContainEqual({
    change: 'changed',
    path: 'b.txt',
  });
});

it('the size of a change counts once, also of a team in a team', async () => {
  const { worktrees, of, folder, changes } = await createTeam({ 'd1.d1': 'ONE\ntwo\nthree\n' });
  await worktrees.gatherTasks(of('fix.d1', ['fix.d1.d1']), []);
  await worktrees.gatherTasks(of('fix', ['fix.d1']), []);
  expect(await changes.measure(folder)).toMatchObject([
    { delegation_id: 'fix.d1.d1', files_total: 1, lines_added: 1 },
  ]);
});

it('a task that did not complete gives way to the one that did, and no change of its own counts', async () => {
  const { worktrees, of, read, folder, changes } = await createTeam({
    d1: 'HALF\ntwo\nthree\n',
    'd1.d1': 'one\nHALF\nthree\n',
    d2: 'RIGHT\ntwo\nthree\n',
  });
  expect(await changes.findTaskConflicts(folder, 'fix', ['fix.d1'])).toEqual([]);
  await worktrees.gatherTasks(of('fix', ['fix.d2']), ['fix.d1', 'fix.d3']);
  expect(await read('fix')).toBe('RIGHT\ntwo\nthree\n');
  const proposed = await changes.propose(folder);
  expect(proposed?.patch).toContain('+RIGHT');
  expect(proposed?.patch).not.toContain('HALF');
  expect(proposed?.delegations).toMatchObject([{ delegation_id: 'fix.d2' }]);
  expect(await worktrees.diff(of('fix.d1'))).toContain('+HALF');
  // After a reset the task may complete.
  await worktrees.gatherTasks(of('fix', ['fix.d1', 'fix.d2']), []);
  expect(await changes.findTaskConflicts(folder, 'fix', [])).toContainEqual(
    expect.objectContaining({ delegation_id: 'fix.d1', files: ['a.txt'] }),
  );
});

it('the diff of a delegation that the run does not have is an error: it is no delegation without changes', async () => {
  const { folder, open } = await createTeam({});
  await open('fix');
  const { store, record_ref } = await createBench({ record: { workspace_dir: folder.dir } });
  const index = createFileRunIndex({ home: folder.home });
  await index.write('my-run', record_ref, 0);
  const cli = createCliChanges(folder.home, async () => ({ store, index }));
  expect(await cli.diff('my-run', 'fix')).toBe('');
  await expect(cli.diff('my-run', 'fixx')).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringMatching(/"fixx" of my-run has worked with files\. .*Try: /),
  });
});

it('in another home of the same database, changes are not taken for none: the command fails and names the cure', async () => {
  const { folder } = await createTeam({});
  const receipt = { target: 'a.txt', sha256: 'ab', bytes: 1 };
  const effect = { wave: 1, state: 'confirmed', receipt };
  const cliOf = async (record: object) => {
    const workspace_dir = folder.dir;
    const { store, record_ref } = await createBench({ record: { workspace_dir, ...record } });
    const index = createFileRunIndex({ home: mkdtempSync(join(folder.home, '..', 'index-')) });
    await index.write('my-run', record_ref, 0);
    return createCliChanges(folder.home, async () => ({ store, index }));
  };
  const cli = await cliOf({ effects: [effect] });
  const refusal = {
    code: 'not_found',
    exitCode: 4,
    message: expect.stringMatching(
      /my-run has changed files, and its .* not in .*Try: .*PLANWAVE_HOME/,
    ),
  };
  await expect(cli.diff('my-run', null)).rejects.toMatchObject(refusal);
  await expect(cli.diff('my-run', 'fix')).rejects.toMatchObject(refusal);
  await expect(cli.apply('my-run')).rejects.toMatchObject(refusal);
  await expect(cli.undo('my-run')).rejects.toMatchObject(refusal);
  // What a fork took over is in the copies of the other run, and a call of something elsewhere changes no file.
  const origin = { run_id: 'other', wave: 2 };
  const call = { ...effect, wave: 2, receipt: { ...receipt, call: true } };
  const others = await cliOf({ origin, effects: [effect, call] });
  expect(await others.diff('my-run', null)).toBe('');
});
