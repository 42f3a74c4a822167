import { asFailure, callOptions, request, startModelBench } from './model-bench.ts';
import type { ModelBench } from './model-bench.ts';

// In a file of its own: the SDK keeps the console's methods from the first call on.
const methods = ['debug', 'info', 'warn', 'error', 'log'] as const;
const before = { ...console };
const printed: unknown[] = [];
let bench: ModelBench;
beforeAll(async () => {
  process.env['ANTHROPIC_LOG'] = 'debug';
  for (const method of methods) console[method] = (...args: unknown[]) => printed.push(args);
  bench = await startModelBench();
});
afterAll(async () => {
  delete process.env['ANTHROPIC_LOG'];
  for (const method of methods) console[method] = before[method];
  await bench.server.close();
});

it('MC4: the SDK prints nothing, whatever ANTHROPIC_LOG says and however a call fails', async () => {
  const broken = 'event: message_start\ndata: {"broken\n\n';
  bench.server.script([
    { times: 1, reply: { raw: broken } },
    { times: 1, reply: { status: 500 } },
    { reply: { text: 'well' } },
  ]);
  await bench.client.complete(request, callOptions()).catch(asFailure);
  await bench.client.complete(request, callOptions()).catch(asFailure);
  await bench.client.complete(request, callOptions());
  expect(bench.server.counts().calls).toBe(3);
  expect(printed).toEqual([]);
});
