import { PlanwaveClientError } from '../../../client/client-error.ts';
import { detectChanges } from '../../../client/cli/follow/follow-event.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import type { CliDeps } from '../../../client/cli/cli-deps.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import { describeStuck } from '../../../client/stuck-workflows.ts';
import type { StuckWorkflow } from '../../../client/stuck-workflows.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';
import { listing, snapshot, status } from './support/samples.ts';

const stuck: StuckWorkflow = {
  workflow_id: 'run-1/wave-001/gather-facts',
  run_id: 'run-1',
  is_misfit: true,
  cure: 'deploy',
  reason: 'Timer machine does not handle this event',
};

async function run(
  argv: readonly string[],
  methods: Partial<PlanwaveClient>,
  deps: Partial<CliDeps> = {},
): Promise<{ code: number; out: string; err: string }> {
  const io = createFakeIo();
  const code = await runCli(argv, createFakeDeps(io, methods, deps));
  return { code, out: io.out(), err: io.err() };
}

it('says in one line what does not go on, why, and what to do', () => {
  expect(describeStuck(stuck)).toMatch(
    /^Stuck: the worker's code does not fit the history of run-1\/wave-001\/gather-facts \(Timer machine .*\)\. .*Try: go back .*doctor --replay/,
  );
  expect(describeStuck({ ...stuck, is_misfit: false, reason: 'x is null' })).toMatch(
    /^Stuck: the worker fails at run-1\/\S+ \(x is null\)\..* log$/,
  );
  expect(describeStuck({ ...stuck, is_misfit: false, cure: 'reset', reason: 'a name' })).toMatch(
    /^Stuck: something that run-1\/\S+ received breaks it \(a name\)\..* earlier code does not help.*Try: .* workflow reset .*--workflow-id run-1\/\S+ --type LastWorkflowTask --reapply-exclude Signal /,
  );
});

it('status of a run that answers tells of a child that is stuck', async () => {
  const answers: Partial<PlanwaveClient> = {
    status: () => Promise.resolve({ live: true, view: status() }),
    stuck: () => Promise.resolve([stuck]),
  };
  expect((await run(['status', 'run-1'], answers)).out).toContain(describeStuck(stuck));
  const { out } = await run(['status', 'run-1', '--json'], answers);
  expect(JSON.parse(out)).toMatchObject({ source: 'worker', stuck: [stuck] });
});

it('list shows a run as stuck, and explains the first of many', async () => {
  const runs = ['run-1', 'run-2'].map((run_id) => ({ ...listing({ run_id }), stuck }));
  const { out } = await run(['list'], { list: () => Promise.resolve(runs) });
  expect(out).toMatch(/run-1 +stuck/);
  expect(out).toMatch(/run-2 +stuck/);
  expect(out).toContain(`${describeStuck(stuck)}. So are 1 more of these runs.`);
});

it('watch tells when a child is stuck and when it goes on', () => {
  const fine = snapshot();
  const bad = snapshot({ note: describeStuck(stuck) });
  const texts = (before: typeof fine, after: typeof fine) => detectChanges(before, after);
  expect(texts(fine, bad)).toMatchObject([{ type: 'notice', text: describeStuck(stuck) }]);
  expect(texts(bad, fine)).toMatchObject([{ text: 'A worker carries it on again.' }]);
});

const replays = (faults: readonly (string | null)[]): Partial<CliDeps> => ({
  async *replayHistories() {
    for (const [index, fault] of faults.entries()) yield { workflowId: `run-${index}`, fault };
  },
});

describe('doctor --replay', () => {
  it('names what would break in one line each, and ends with 1', async () => {
    const { code, out } = await run(['doctor', '--replay'], {}, replays([null, 'a timer\nis new']));
    expect(code).toBe(1);
    expect(out).toMatch(/^✗ run-1: a timer is new\n2 open workflows replayed, 1 would break\.\n/);
    const asJson = await run(['doctor', '--replay', '--json'], {}, replays(['no such timer']));
    expect(JSON.parse(asJson.out)).toEqual({
      ok: false,
      replayed: 1,
      broken: [{ workflow_id: 'run-0', fault: 'no such timer' }],
    });
  });

  it('ends with 0 when everything fits', async () => {
    const { code, out } = await run(['doctor', '--replay'], {}, replays([null]));
    expect({ code, out }).toEqual({
      code: 0,
      out: '1 open workflow replayed, 0 would break.\n',
    });
  });

  it('without a server ends with 3 and the usual words', async () => {
    const lost = new PlanwaveClientError('unreachable', 'No server at a:1. Try: npm run dev');
    const { code, err } = await run(
      ['doctor', '--replay'],
      {},
      { openSession: () => Promise.reject(lost) },
    );
    expect({ code, err }).toEqual({ code: 3, err: 'No server at a:1. Try: npm run dev\n' });
  });
});
