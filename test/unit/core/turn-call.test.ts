import fc from 'fast-check';
import type { ModelTurnInput } from '../../../contracts/model-turn.ts';
import {
  needsTerms,
  restoreCall,
  restoreUsage,
  shortenCall,
  shortenUsage,
  termsOf,
} from '../../../core/turns/turn-call.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';

const first: ModelTurnInput = {
  run_id: 'run',
  agent_id: 'writer',
  registry_ref: 'a'.repeat(64),
  head: null,
  append: [],
  stage: 'delegation',
  max_output_tokens: 16_000,
  compact: false,
  allowance: null,
  delegation_id: 'letter',
  reading: { record_ref: 'b'.repeat(64), upstream: [], loads_left: 50, acts: true },
};
const kept = termsOf(first);
const head = 'c'.repeat(64);

it('TC1: a call is restored, whatever of it has changed since the terms were kept', () => {
  const values = fc.record(
    {
      run_id: fc.constantFrom('run', 'other'),
      agent_id: fc.constantFrom('writer', 'editor'),
      registry_ref: fc.constantFrom(first.registry_ref, head),
      head: fc.constantFrom(head),
      append: fc.constantFrom([], [{ type: 'answers' as const, answers: [] }]),
      stage: fc.constantFrom('delegation' as const, 'plan' as const),
      max_output_tokens: fc.constantFrom(16_000, 32_000),
      compact: fc.boolean(),
      allowance: fc.constantFrom(null, { calls: 1, tokens: null, cost_micro_usd: null }),
      delegation_id: fc.constantFrom('letter', 'page'),
      model: fc.constantFrom('fast'),
      passable: fc.constantFrom([]),
      reading: fc.record(
        {
          record_ref: fc.constantFrom('b'.repeat(64), head),
          upstream: fc.constantFrom([]),
          loads_left: fc.nat({ max: 50 }),
          acts: fc.boolean(),
          researches: fc.constant(true as const),
        },
        { requiredKeys: ['record_ref', 'upstream', 'loads_left', 'acts'] },
      ),
    },
    {
      requiredKeys: [
        'run_id',
        'agent_id',
        'registry_ref',
        'head',
        'append',
        'stage',
        'max_output_tokens',
        'compact',
        'allowance',
      ],
    },
  );
  fc.assert(
    fc.property(values, values, fc.boolean(), (input, before, keeps) => {
      const terms = keeps ? termsOf(before) : null;
      const call: ReturnType<typeof shortenCall> = JSON.parse(
        JSON.stringify(shortenCall(input, terms)),
      );
      expect(restoreCall(call, terms)).toEqual(input);
    }),
  );
});

it('TC2: a further call names its head, its delegation and what changed', () => {
  expect(shortenCall({ ...first, head }, kept)).toEqual({ head, delegation_id: 'letter' });
  const loaded = { ...first, head, reading: { ...kept.reading!, loads_left: 49 } };
  expect(shortenCall(loaded, kept)).toEqual({
    head,
    delegation_id: 'letter',
    reading: { loads_left: 49 },
  });
});

it('TC3: a call that lacks a kept term, or is of another run, names all of its own', () => {
  const { reading: _reading, ...without } = first;
  expect(shortenCall({ ...without, head }, kept)).toEqual({ ...termsOf(without), head });
  expect(needsTerms(shortenCall({ ...first, run_id: 'other', head }, kept))).toBe(false);
  expect(restoreCall({ head }, null)).toBeNull();
});

it('a call of an older history, which names everything, is restored as it is', () => {
  expect(restoreCall(first, null)).toEqual(first);
});

it('TC4: a usage without its zeros is restored', () => {
  const usage = { ...noUsage, calls: 1, output_tokens: 6 };
  expect(shortenUsage(usage)).toEqual({ calls: 1, output_tokens: 6 });
  expect(restoreUsage(shortenUsage(usage))).toEqual(usage);
});
