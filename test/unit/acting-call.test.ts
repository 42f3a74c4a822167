import { CancellationScope, CancelledFailure } from '@temporalio/workflow';
import type { EffectReport, RunToolResult } from '../../contracts/activity-types.ts';
import type { RecordedEffect } from '../../contracts/effect.ts';
import { callActingTool } from '../../workflows/execution/call-acting-tool.ts';
import type { ToolContext } from '../../workflows/execution/call-acting-tool.ts';

beforeAll(() => {
  vi.spyOn(CancellationScope, 'nonCancellable').mockImplementation((run) => run());
});
afterAll(() => void vi.restoreAllMocks());

const stopped = (): Promise<never> => Promise.reject(new CancelledFailure('stopped'));

interface Stop {
  /** Waits for the turn of a call and makes it. */
  readonly inTurn: () => Promise<RunToolResult>;
  /** State whose first report the stop keeps back. If absent, none. */
  readonly keepsBack?: EffectReport['state'];
}

/** Stops a call. @returns what the record says of it, and the tried changes. */
async function stopCall(name: string, { inTurn, keepsBack }: Stop) {
  const call = { tool_use_id: 't1', name, input_ref: 'r' };
  const reported: Pick<RecordedEffect, 'state' | 'reason'>[] = [];
  const work: ToolContext['work'] = { loadedDetails: [], effects: [] };
  const waiting = vi.fn<Stop['inTurn']>(inTurn);
  let isStopped = false;
  const context = {
    order: { wave: 1, delegation: { delegation_id: 'd', agent_id: 'engineer' } },
    control: { ready: () => Promise.resolve() },
    superior: {
      report: ({ state, reason }: RecordedEffect) => {
        if (state === keepsBack && !isStopped) {
          isStopped = true;
          return stopped();
        }
        return Promise.resolve(reported.push({ state, reason }));
      },
    },
    work,
    inTurn: waiting,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const part = context as unknown as ToolContext;
  await expect(callActingTool(call, part)).rejects.toThrow(/stopped|workflow/iu);
  return { reported, effects: work.effects, waited: waiting.mock.calls.length };
}

/** Stops a call where it waits for its turn; one that does not wait ends at the SDK. */
const stopWaiting = (name: string) => stopCall(name, { inTurn: stopped });

it('only calls that change the folder wait for their turn', async () => {
  expect(await stopWaiting('write_file')).toMatchObject({ waited: 1 });
  expect(await stopWaiting('tickets__open')).toMatchObject({ waited: 0 });
});

it('a call that is stopped while it waits for its turn has changed nothing', async () => {
  const { reported, effects } = await stopWaiting('write_file');
  expect(reported.at(-1)).toEqual({
    state: 'failed',
    reason: 'It was stopped before it was made.',
  });
  expect(effects).toMatchObject([{ state: 'failed' }]);
});

it.each(['confirmed', 'failed'] as const)(
  'a change that is %s when the stop arrives is recorded as that',
  async (state) => {
    const effect: EffectReport = { state, target: 'a.md', receipt: null, reason: 'as it is' };
    const done: RunToolResult = { type: 'done', result_ref: 'r', is_error: false, effect };
    const { reported, effects } = await stopCall('write_file', {
      inTurn: () => Promise.resolve(done),
      keepsBack: state,
    });
    expect(reported).toEqual([
      { state: 'intended', reason: '' },
      { state, reason: 'as it is' },
    ]);
    expect(effects).toMatchObject([{ state, target: 'a.md' }]);
  },
);
