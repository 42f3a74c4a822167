import { assert, boolean, constant, constantFrom, nat, property, record } from 'fast-check';
import type { ModelTurnInput } from '../../../contracts/model-turn.ts';
import {
  keptTerms,
  needsTerms,
  restoreCall,
  restoreUsage,
  shortenCall,
  shortenUsage,
  termsOf,
} from '../../../core/turns/turn-call.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';

const reading = { record_ref: 'b'.repeat(64), upstream: [], loads_left: 50, acts: true };
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
  reading,
};
const kept = termsOf(first);
const head = 'c'.repeat(64);

it('KT1: a call is restored, whatever of it has changed since the terms were kept', () => {
  const values = record(
    {
      run_id: constantFrom('run', 'other'),
      agent_id: constantFrom('writer', 'editor'),
      registry_ref: constantFrom(first.registry_ref, head),
      head: constantFrom(head),
      append: constantFrom([], [{ type: 'answers' as const, answers: [] }]),
      stage: constantFrom('delegation' as const, 'plan' as const),
      max_output_tokens: constantFrom(16_000, 32_000),
      compact: boolean(),
      allowance: constantFrom(null, { calls: 1, tokens: null, cost_micro_usd: null }),
      refusals: nat({ max: 30 }).map((before) => before + 1),
      delegation_id: constantFrom('letter', 'page'),
      model: constantFrom('fast'),
      passable: constantFrom([]),
      reading: record(
        {
          record_ref: constantFrom('b'.repeat(64), head),
          upstream: constantFrom([]),
          loads_left: nat({ max: 50 }),
          acts: boolean(),
          researches: constant(true as const),
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
  assert(
    property(values, values, boolean(), (input, before, keeps) => {
      const terms = keeps ? termsOf(before) : null;
      const call: ReturnType<typeof shortenCall> = JSON.parse(
        JSON.stringify(shortenCall(input, terms)),
      );
      expect(restoreCall(call, terms)).toEqual(input);
    }),
  );
});

it('KT2: a further call names its head, its delegation and what changed', () => {
  expect(shortenCall({ ...first, head, refusals: 0 }, kept)).toEqual({
    head,
    delegation_id: 'letter',
  });
  const loaded = { ...first, head, reading: { ...reading, loads_left: 49 } };
  expect(shortenCall(loaded, kept)).toEqual({
    head,
    delegation_id: 'letter',
    reading: { loads_left: 49 },
  });
});

it('KT3: a call that lacks a kept term, or is of another run, names all of its own', () => {
  const { reading: _reading, ...without } = first;
  expect(shortenCall({ ...without, head }, kept)).toEqual({ ...termsOf(without), head });
  expect(needsTerms(shortenCall({ ...first, run_id: 'other', head }, kept))).toBe(false);
  expect(restoreCall({ head }, null)).toBeNull();
});

it('a call that leaves nothing out is restored as it is', () => {
  expect(restoreCall(first, null)).toEqual(first);
});

it('KT4: a usage without its zeros is restored', () => {
  const usage = { ...noUsage, calls: 1, output_tokens: 6 };
  expect(shortenUsage(usage)).toEqual({ calls: 1, output_tokens: 6 });
  expect(restoreUsage(shortenUsage(usage))).toEqual(usage);
});

it('KT5: the terms are those of the newest call that named them, and none after a reply of a crashed attempt', () => {
  const other = { ...kept, agent_id: 'editor' };
  expect(keptTerms({ keeps_terms: true }, kept, undefined)).toBe(kept);
  expect(keptTerms({}, other, kept)).toBe(kept);
  expect(keptTerms({ recalled: true, keeps_terms: true }, other, kept)).toBeUndefined();
});
