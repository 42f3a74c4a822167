import { CancellationScope, CancelledFailure } from '@temporalio/workflow';
import type { RecordedEffect } from '../../contracts/effect.ts';
import { callActingTool } from '../../workflows/execution/call-acting-tool.ts';
import type { ToolContext } from '../../workflows/execution/call-acting-tool.ts';

beforeAll(() => {
  vi.spyOn(CancellationScope, 'nonCancellable').mockImplementation((run) => run());
});
afterAll(() => void vi.restoreAllMocks());

/** Stops a call where it waits for its turn; one that does not wait ends at the SDK. @returns what the record says of it, and the tried changes. */
async function stopWaiting(name: string) {
  const call = { tool_use_id: 't1', name, input_ref: 'r' };
  const reported: Pick<RecordedEffect, 'state' | 'reason'>[] = [];
  const work: ToolContext['work'] = { loadedDetails: [], effects: [] };
  const inTurn = vi.fn<() => Promise<never>>(() => Promise.reject(new CancelledFailure('stopped')));
  const context = {
    order: { wave: 1, delegation: { delegation_id: 'd', agent_id: 'engineer' } },
    control: { ready: () => Promise.resolve() },
    superior: {
      report: ({ state, reason }: RecordedEffect) =>
        Promise.resolve(reported.push({ state, reason })),
    },
    work,
    inTurn,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const part = context as unknown as ToolContext;
  await expect(callActingTool(call, part)).rejects.toThrow(/stopped|workflow/iu);
  return { reported, effects: work.effects, waited: inTurn.mock.calls.length };
}

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
