import type { CommandRunner } from '../../../activities/ports/command-runner.ts';
import { WorkspaceRefused } from '../../../activities/ports/workspaces.ts';
import { checkEvidence } from '../../../activities/verification/check-evidence.ts';

const unused = () => Promise.reject(new Error('Nothing else is called.'));

/** Makes the check of a run without a folder of the user's. */
function checkWith(copyOwn: () => Promise<string>) {
  const commands: CommandRunner = { confined: true, endLeftovers: async () => {}, run: unused };
  const workspaces = { folderOf: unused, read: unused, copyOwn, dropOwn: async () => {} };
  const worktrees: Parameters<typeof checkEvidence>[0]['worktrees'] = {
    open: unused,
    leavesOut: unused,
    listKept: unused,
    keep: unused,
    startOf: unused,
    restore: unused,
    listChanges: unused,
    listTouched: unused,
    diff: unused,
    gatherTasks: unused,
  };
  return checkEvidence(
    { commands, workspaces, worktrees },
    {
      check: { kind: 'command', argv: ['test'], exit_code: 0 },
      place: { run_id: 'my-run', dir: null },
      signal: new AbortController().signal,
    },
  );
}

it('a command for which the files could not be copied is left to the verifier, with the reason', async () => {
  const reason = 'The files could not be copied: ENOENT';
  const found = await checkWith(() => Promise.reject(new WorkspaceRefused(reason)));
  expect(found).toMatchObject({ result: 'not_run', found: reason });
});

it('a fault of the machine is none of the work: the activity is repeated', async () => {
  const full = Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
  await expect(checkWith(() => Promise.reject(full))).rejects.toBe(full);
});
