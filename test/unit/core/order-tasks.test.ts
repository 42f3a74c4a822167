import * as fc from 'fast-check';
import { findCycle } from '../../../core/schedule/dependencies.ts';
import { orderTasks } from '../../../core/team/admit-calls.ts';
import type { OrderedCall } from '../../../core/team/admit-calls.ts';
import { property } from './builders.ts';

const ids = ['a', 'b', 'c', 'd', 'e'];

const anyCalls = fc
  .array(fc.record({ needs: fc.subarray([...ids, 'earlier']), mentions: fc.subarray(ids) }), {
    maxLength: ids.length,
  })
  .map((calls) =>
    calls.map((call, at): OrderedCall => ({ ...call, delegation_id: ids[at] ?? '' })),
  );

/** Calls with a cycle never get an order. */
const withoutCycle = anyCalls.filter(
  (calls) => findCycle(new Map(calls.map((one) => [one.delegation_id, one.needs]))) === null,
);

/** Whether all of them come to an end when each waits for what it comes after. */
function endsWhollyIn(order: ReturnType<typeof orderTasks>): boolean {
  const over = new Set<string>();
  for (let again = true; again;) {
    const next = [...order].find(
      ([id, { after }]) => !over.has(id) && after.every((one) => over.has(one)),
    );
    if (next !== undefined) over.add(next[0]);
    again = next !== undefined;
  }
  return over.size === order.size;
}

it('OT1: a task comes after every call of the reply that it needs', () => {
  fc.assert(
    fc.property(withoutCycle, (calls) => {
      const order = orderTasks(calls, true);
      const inReply = new Set(calls.map(({ delegation_id }) => delegation_id));
      for (const { delegation_id, needs } of calls) {
        const { inputs = [], after = [] } = order.get(delegation_id) ?? {};
        expect(after).toEqual(expect.arrayContaining(needs.filter((id) => inReply.has(id))));
        expect(inputs).toEqual(expect.arrayContaining([...needs]));
      }
    }),
    property,
  );
});

it('OT2: mentions never keep anything from coming to its end', () => {
  fc.assert(
    fc.property(withoutCycle, (calls) => {
      expect(endsWhollyIn(orderTasks(calls, true))).toBe(true);
    }),
    property,
  );
});

it('OT2: a task that speaks of another comes after it and is given its result', () => {
  const calls = [
    { delegation_id: 'text', needs: [], mentions: ['facts'] },
    { delegation_id: 'facts', needs: [], mentions: [] },
  ];
  expect(orderTasks(calls, true).get('text')).toEqual({ inputs: ['facts'], after: ['facts'] });
});

it('OT2: of two that speak of each other, the first waits and the second does not', () => {
  const calls = [
    { delegation_id: 'a', needs: [], mentions: ['b'] },
    { delegation_id: 'b', needs: [], mentions: ['a'] },
  ];
  const order = orderTasks(calls, true);
  expect([order.get('a')?.after, order.get('b')?.after]).toEqual([['b'], []]);
});

it('OT3: one after the other, any two calls stand in an order', () => {
  fc.assert(
    fc.property(withoutCycle, (calls) => {
      const order = orderTasks(calls, false);
      expect(endsWhollyIn(order)).toBe(true);
      for (const [at, { delegation_id }] of calls.entries()) {
        for (const { delegation_id: other } of calls.slice(at + 1)) {
          const isOrdered =
            reaches(order, delegation_id, other) || reaches(order, other, delegation_id);
          expect(isOrdered).toBe(true);
        }
      }
    }),
    property,
  );
});

it('OT3: without needs, each is given what all before it brought', () => {
  const calls = ['a', 'b', 'c'].map((delegation_id) => ({
    delegation_id,
    needs: [],
    mentions: [],
  }));
  expect(orderTasks(calls, false).get('c')).toEqual({ inputs: ['a', 'b'], after: ['a', 'b'] });
});

function reaches(order: ReturnType<typeof orderTasks>, from: string, to: string): boolean {
  const after = order.get(from)?.after ?? [];
  return after.some((one) => one === to || reaches(order, one, to));
}
