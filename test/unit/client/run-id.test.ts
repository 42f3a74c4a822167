import * as fc from 'fast-check';
import { checkRunId, generateRunId } from '../../../client/start-run.ts';
import { Slug } from '../../../contracts/agent-definition.ts';

const nowMs = Date.UTC(2026, 0, 31, 12);

it.each([
  ['Compare three databases', 'compare-three-databases-'],
  ['Größe & Übersicht', 'grosse-ubersicht-'],
  ['比较三种数据库', 'run-'],
  ['  --- Ship it!', 'ship-it-'],
  ['antidisestablishmentarianismantidisestablishment', 'antidisestablishmentarianismant-'],
])('the id of %j begins with %s', (goal, begin) => {
  expect(generateRunId(goal, nowMs)).toBe(`${begin}${nowMs.toString(36)}`);
});

it('cuts at a word', () => {
  expect(generateRunId('Find out why the nightly build is so slow these days', nowMs)).toBe(
    `find-out-why-the-nightly-build-${nowMs.toString(36)}`,
  );
});

it('is a slug for every goal', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), fc.nat(), (goal, ms) => {
      expect(Slug.safeParse(generateRunId(goal, nowMs + ms)).success).toBe(true);
    }),
  );
});

it('differs for runs on one goal in different milliseconds', () => {
  expect(generateRunId('goal', nowMs)).not.toBe(generateRunId('goal', nowMs + 1));
});

it.each(['../etc', 'Upper', 'a/b', '', 'x'.repeat(41), '-a'])('refuses the id %j', (id) => {
  expect(() => checkRunId(id)).toThrow(/expected 1 to 40 lower-case.*Try: --id/);
});

it('takes a good id as it is', () => {
  expect(checkRunId('my-run_2')).toBe('my-run_2');
});
