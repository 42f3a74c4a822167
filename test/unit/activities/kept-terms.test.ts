import { shortenCall, termsOf } from '../../../core/turns/turn-call.ts';
import { sayJson, sayText } from '../../support/scripted-model.ts';
import { createBench, outputOf, runIn } from './bench.ts';

it('a conversation keeps the terms of its first call, and completes each further one with them', async () => {
  const bench = await createBench({
    scripts: [sayText('no JSON'), sayText('no JSON either'), sayJson(outputOf())],
  });
  const { modelTurn } = bench.activities;
  const input = bench.input({ delegation_id: 'letter', max_output_tokens: 12_345 });
  const first = await runIn(bench.env(), modelTurn, input);
  expect(first.keeps_terms).toBe(true);
  expect((await bench.node(first.head)).terms).toEqual(termsOf(input));
  const further = { ...input, append: [], head: first.head };
  const call = shortenCall(further, termsOf(input));
  expect(call).toEqual({ head: first.head, delegation_id: 'letter' });
  const second = await runIn(bench.env(), modelTurn, call);
  expect(second.keeps_terms).toBeUndefined();
  // The node with the terms is found at once, however long the conversation.
  expect(await bench.node(second.head)).toMatchObject({ terms_at: first.head });
  const third = await runIn(bench.env(), modelTurn, { ...call, head: second.head });
  expect(await bench.node(third.head)).toMatchObject({ terms_at: first.head });
  expect(third.reply.type).toBe('output');
  expect(bench.model.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([
    12_345, 12_345, 12_345,
  ]);
});

it('a call whose conversation keeps no terms says so', async () => {
  const bench = await createBench({ scripts: [sayJson(outputOf())] });
  await expect(
    runIn(bench.env(), bench.activities.modelTurn, { head: null }),
  ).rejects.toMatchObject({ message: expect.stringContaining('terms') });
});
