import * as fc from 'fast-check';
import { checkDelivery, checkProgress } from '../../../core/run/check-child-messages.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { property, ref } from './builders.ts';

const progress = {
  wave: 1,
  plan_ref: ref,
  summary: 'One task.',
  delegations: [{ delegation_id: 'a', agent_id: 'writer', title: 'A', depends_on: ['b'] }],
  criterion_ids: ['a-c1'],
  usage: noUsage,
};

const delivery = {
  escalation_id: 'a#1',
  answers: [
    {
      question_id: 'q1',
      text: 'Which region?',
      answer: 'eu-west',
      answer_ref: null,
      answered_by: 'user',
      loop: false,
    },
  ],
};

it('WM1: no payload throws', () => {
  fc.assert(
    fc.property(fc.anything(), (payload) => {
      expect(checkProgress(payload)).toBeNull();
      expect(checkDelivery(payload)).toBeNull();
    }),
    property,
  );
});

it('WM2: what a workflow sends comes back with the fields we know', () => {
  expect(checkProgress({ ...progress, extra: 1 })).toEqual(progress);
  expect(checkDelivery({ ...delivery, extra: 1 })).toEqual(delivery);
});

it('WM2: a type of triad that no plan has is left out', () => {
  const [planned] = progress.delegations;
  const told = (triad: unknown) =>
    checkProgress({ ...progress, delegations: [{ ...planned, triad }] })?.delegations;
  expect(told('consensus')).toEqual([{ ...planned, triad: 'consensus' }]);
  expect(told('quartet')).toEqual([planned]);
});

it.each([
  { wave: 0 },
  { wave: 1.5 },
  { plan_ref: '../secret' },
  { summary: null },
  { delegations: [{ delegation_id: 'a' }] },
  { delegations: [{ ...progress.delegations[0], depends_on: [7] }] },
  { delegations: 'a' },
  { usage: { calls: 1 } },
  { criterion_ids: [7] },
])('WM2: a progress with %j gives null', (change) => {
  expect(checkProgress({ ...progress, ...change })).toBeNull();
});

it.each([
  { escalation_id: 7 },
  { answers: null },
  { answers: ['eu-west'] },
  { answers: [{ ...delivery.answers[0], answer: 7 }] },
  { answers: [{ ...delivery.answers[0], loop: 'no' }] },
])('WM2: a delivery with %j gives null', (change) => {
  expect(checkDelivery({ ...delivery, ...change })).toBeNull();
});
