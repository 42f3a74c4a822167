import { MockActivityEnvironment } from '@temporalio/testing';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createToolRegistry } from '../../../activities/tools/registry/create-registry.ts';
import { createChangeFiles } from '../../../activities/tools/registry/change-files.ts';
import type { RunToolInput, RunToolResult } from '../../../contracts/activity-types.ts';
import type { EffectOrder } from '../../../contracts/effect.ts';
import { fileWorkspaces } from '../../support/file-workspaces.ts';
import { registryOf } from '../../support/registry-of.ts';
import { agents, createBench, runIn } from './bench.ts';

const home = mkdtempSync(join(tmpdir(), 'planwave-reset-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const order: EffectOrder = {
  effect_id: 'task/effect-1',
  chain_id: 'chain',
  approval: null,
  resolution: null,
};

/** Makes the call `write_file` of one run in different executions of its workflow. */
async function openWriting(run_id: string) {
  const bench = await createBench({
    deps: { tools: createToolRegistry(createChangeFiles(fileWorkspaces(home))) },
  });
  const registry_ref = await bench.store.put(
    registryOf(agents.map((agent) => ({ ...agent, allowed_tools: ['write_file'] }))),
  );
  const write = async (
    runId: string,
    content: string,
    effect: Partial<EffectOrder> = {},
  ): Promise<RunToolResult> => {
    const env = new MockActivityEnvironment({ workflowExecution: { workflowId: 'w', runId } });
    const input_ref = await bench.store.put(JSON.stringify({ path: 'a.md', content }));
    const input: RunToolInput = {
      run_id,
      agent_id: 'writer',
      builds_on: [],
      registry_ref,
      record_ref: bench.record_ref,
      call: { tool_use_id: 't1', name: 'write_file', input_ref },
      effect: { ...order, ...effect },
    };
    return runIn(env, bench.activities.runTool, input);
  };
  return { write, file: join(home, run_id, 'workspace', 'a.md') };
}

it('finding T12 a: what a later effect replaced before a reset is not claimed as confirmed', async () => {
  const { write, file } = await openWriting('replaced');
  await write('run-1', 'v1');
  await write('run-1', 'v2', { effect_id: 'task/effect-2' });
  expect(await write('run-2', 'v1')).toMatchObject({ type: 'unverified', round: 1 });
  expect(readFileSync(file, 'utf8')).toBe('v2');
  // The user says so, and only then is it written again.
  const resolution = { round: 1, choice: 'retry' as const };
  expect(await write('run-2', 'v1', { resolution })).toMatchObject({
    effect: { state: 'confirmed' },
  });
  expect(readFileSync(file, 'utf8')).toBe('v1');
});

it('finding T12 a: what still stands after a reset is confirmed and not made again', async () => {
  const { write, file } = await openWriting('still-there');
  const first = await write('run-1', 'v1');
  expect(await write('run-2', 'v1')).toEqual(first);
  // Another attempt of the same execution believes the ledger, whatever happened to the file meanwhile.
  writeFileSync(file, 'by somebody else');
  expect(await write('run-1', 'v1')).toEqual(first);
});

it('finding T12 a: what is gone after a reset is made again', async () => {
  const { write, file } = await openWriting('gone');
  const first = await write('run-1', 'v1');
  rmSync(file);
  expect(await write('run-2', 'v1')).toEqual(first);
  expect(existsSync(file)).toBe(true);
});
