import type { CliDeps } from '../../../client/cli/cli-deps.ts';
import type { CopiedStores } from '../../../contracts/store.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';

const none = { copied: 0, present: 0 };
const nothing: CopiedStores = {
  artifacts: none,
  replies: none,
  effects: none,
  names: none,
  threads: none,
  shared: none,
  faults: [],
};

const openSession = (): Promise<never> => Promise.reject(new Error('must not connect'));

async function run(copied: Partial<CopiedStores>) {
  const io = createFakeIo();
  const asked: unknown[] = [];
  const copyStore: CliDeps['copyStore'] = async (...places) => {
    asked.push(places);
    return { ...nothing, ...copied };
  };
  const argv = ['store', 'copy', '.planning', 'postgresql://db/planwave'];
  const code = await runCli(argv, createFakeDeps(io, {}, { copyStore, openSession }));
  return { code, out: io.out(), asked };
}

it('says what was copied and what was there', async () => {
  const artifacts = { copied: 3, present: 2 };
  expect(await run({ artifacts, replies: { copied: 1, present: 0 } })).toEqual({
    code: 0,
    out:
      'Copied 3 artifacts, 1 paid reply, 0 side effects, 0 names, 0 thread entries, 0 shared values, 2 were there already. ' +
      'Every artifact was read back and compared with its address.\n' +
      'The second store takes the place of the first: start every worker with it, and none with the first.\n',
    asked: [['.planning', 'postgresql://db/planwave']],
  });
});

it('names what was not copied, with its cure, and ends with 1', async () => {
  const fault = { where: 'the run "a"', what: 'it differs', cure: 'copy into an empty store' };
  const { code, out } = await run({ faults: [fault] });
  expect(code).toBe(1);
  expect(out).toContain('Not copied: the run "a": it differs.\nTry: copy into an empty store.\n');
});
