import { guardActivity } from '../../../activities/attempt/failures.ts';

const coded = (code: string): Error =>
  Object.assign(new Error(`${code}: the system says no, write`), { code });

it.each([
  ['a full disk under a worktree', coded('ENOSPC'), 'free some space'],
  ['a disk that became read-only', coded('EROFS'), 'mount the file system writable'],
  [
    'git on a full disk',
    new Error('git add: error: unable to write file: No space left on device'),
    'free some space',
  ],
  ['too many open files of the machine', coded('ENFILE'), 'of the machine'],
])('%s is waited for, and does not park the run', async (_what, fault, cure) => {
  const work = guardActivity(() => Promise.reject(fault));
  await expect(work).rejects.toMatchObject({
    type: 'StoreUnavailable',
    nonRetryable: false,
    message: expect.stringMatching(
      new RegExp(`^${fault.message}\\. Try: .*${cure}.*continues by itself\\.$`, 'u'),
    ),
  });
});
