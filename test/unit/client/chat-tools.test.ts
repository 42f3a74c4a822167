import { PlanwaveClientError } from '../../../client/client-error.ts';
import { callTool, readResult, startRun, waitForRun } from '../../../client/mcp/chat-tools.ts';
import type { PlannerRunInput } from '../../../contracts/planner-run.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { listing } from './support/samples.ts';
import { createFakeClient } from './support/fake-client.ts';

it('runs that a chat starts work for the tenant of the server, if it has one', async () => {
  const inputs: PlannerRunInput[] = [];
  const client = createFakeClient({
    startRun: async (input) => {
      inputs.push(input);
      return { run_id: 'run-1' };
    },
  });
  const deps = { client, connect: async () => client, readResult: async () => null, version: '1' };
  for (const tenant of ['acme', undefined]) {
    // oxlint-disable-next-line no-await-in-loop
    await startRun({ ...deps, tenant }, { goal: 'Write a letter' });
  }
  expect(inputs).toEqual([{ goal: 'Write a letter', tenant: 'acme' }, { goal: 'Write a letter' }]);
});

it('a chat that writes to an evaluation is told a tool of its own, not a command', async () => {
  const deps = {
    connect: async () => createFakeClient({}),
    readResult: async () => null,
    version: '1',
  };
  const { content, isError } = await callTool(deps, () => {
    throw new PlanwaveClientError('refused', 'eval-x is an evaluation. Try: planwave list');
  });
  expect({ content, isError }).toEqual({
    content: [{ type: 'text', text: 'eval-x is an evaluation. Try: list_runs' }],
    isError: true,
  });
});

it('a chat reads the cells of an evaluation, and their runs', async () => {
  const usage = noUsage;
  const cell = {
    cell: 1,
    goal: 'backup',
    setting: 'base',
    repetition: 1,
    run_id: 'eval-x-1-c001',
    status: 'completed' as const,
    reason: '',
    passed: true,
    grades: [],
    usage,
    seconds: 2,
    cached: false,
  };
  const evaluation = { evaluation_id: 'eval-x-1', name: 'x', cells: [cell], usage };
  const client = createFakeClient({ result: async () => ({ ended: 'evaluation', evaluation }) });
  const deps = { client, connect: async () => client, readResult: async () => null, version: '1' };
  expect(await readResult(deps, { run_id: 'eval-x-1', page: 1 })).toMatchObject({
    text: expect.stringMatching(/"summary":[^]*"run_id": "eval-x-1-c001"/),
  });
});

it('a chat hears at once of a paused run, and what lets a parked one go on when its wait is over', async () => {
  const { signal } = new AbortController();
  const look = (phase: string, seconds: number) => {
    const client = createFakeClient({ describe: async () => listing({ run_id: 'run-1', phase }) });
    const deps = {
      client,
      connect: async () => client,
      readResult: async () => null,
      version: '1',
    };
    return waitForRun(deps, { run_id: 'run-1', seconds }, signal);
  };
  const for_a_person = 'npm run planwave -- resume run-1';
  expect(await look('paused', 3_600)).toMatchObject({ next: 'tell_the_person', for_a_person });
  expect(await look('parked', 0)).toMatchObject({ next: 'wait_for_run', for_a_person });
  expect(await look('working', 0)).not.toHaveProperty('for_a_person');
});
