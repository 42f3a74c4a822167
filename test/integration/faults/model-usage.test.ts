import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import { formatCost } from '../../../core/text/format.ts';
import { scriptedCalls } from '../../support/calls.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { useStage } from '../../support/use-stage.ts';

// The name of a model without a price: a rehearsal would cost nothing, whatever its replies are called.
const { stage } = useStage({
  settings: { isRehearsal: false, defaultModel: 'claude-tomorrow-9' },
});

const goal = 'Compare three ways to store a backup';
const task = { agent_id: 'writer', task_description: 'Write one page about backups.' };

it('fault 25: a reply without usage is a call whose cost is unknown, not one that was free', async () => {
  stage.rehearsal.script([{ reply: { pass: true, usage: null } }]);
  const run = await stage.start('delegation', task);
  const outcome: DelegationOutcome = await run.result();
  expect(outcome).toMatchObject({
    status: 'completed',
    usage: { calls: 1, input_tokens: 0, output_tokens: 0, cost_micro_usd: 0, unpriced_calls: 1 },
  });
  expect(formatCost(outcome.usage)).toBe('cost unknown');
  expect(scriptedCalls(stage)).toHaveLength(1);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 25: the tokens of a model without a price are counted', async () => {
  const usage = { input_tokens: 1_000, output_tokens: 200, cache_read_input_tokens: 30 };
  stage.rehearsal.script([{ reply: { pass: true, model: 'claude-tomorrow-9', usage } }]);
  const run = await stage.start('delegation', task);
  const outcome: DelegationOutcome = await run.result();
  expect(outcome).toMatchObject({
    status: 'completed',
    usage: { calls: 1, ...usage, cost_micro_usd: 0, unpriced_calls: 1 },
  });
  expect(scriptedCalls(stage)).toHaveLength(1);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 25: one unknown price among known ones makes the cost of the run "at least"', async () => {
  const usage = {
    input_tokens: 10_000,
    output_tokens: 1_000,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  stage.rehearsal.script([
    { match: { schema: 'plan' }, reply: { pass: true, model: 'claude-sonnet-5-5', usage } },
    { match: { schema: 'decision' }, reply: { pass: true, model: 'claude-tomorrow-9', usage } },
    { match: { callKeyIncludes: '/gather-facts/' }, reply: { pass: true, usage: null } },
    { reply: { pass: true, model: 'rehearsal' } },
  ]);
  const run = await stage.start('plannerRun', { goal, use_defaults: true });
  const result = await stage.result(run);
  expect(result.status).toBe('completed');
  // The plan, the decision, and both calls of the delegation that asks first.
  expect(scriptedCalls(stage, 0, 1, 2)).toHaveLength(4);
  expect(result.usage).toMatchObject({ cost_micro_usd: 30_000, unpriced_calls: 3 });
  const { usage: shown } = await stage.status(run);
  expect(shown).toEqual(result.usage);
  const text = readFileSync(join(stage.home, result.report_path), 'utf8');
  expect(text).toContain('Cost: at least $0.03');
  const { searchAttributes } = await run.describe();
  expect(searchAttributes['PlanwaveCostUsd']).toEqual([0.03]);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 25: a run of which no price is known says "cost unknown"', async () => {
  stage.rehearsal.script([{ reply: { pass: true, model: 'claude-tomorrow-9' } }]);
  const run = await stage.start('plannerRun', { goal, use_defaults: true });
  const result = await stage.result(run);
  expect(result.status).toBe('completed');
  expect(scriptedCalls(stage)).toHaveLength(result.usage.calls);
  expect(result.usage.unpriced_calls).toBe(result.usage.calls);
  expect(result.usage.input_tokens + result.usage.cache_read_input_tokens).toBeGreaterThan(0);
  const text = readFileSync(join(stage.home, result.report_path), 'utf8');
  expect(text).toContain('Cost: cost unknown');
  await expectPromisesKept(stage, run.workflowId);
});
