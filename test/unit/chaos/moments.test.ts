import { shareKeys } from '../../chaos/call-name.ts';
import { momentsOf } from '../../chaos/play-reference.ts';
import type { EventMoment, Moments } from '../../chaos/play-reference.ts';

const at = (path: string): EventMoment => ({ at: 'event', path, id: 1, type: 'TIMER_STARTED' });

const ofRegion: Moments = {
  events: [at('/wave-001/region'), at('/wave-001/region/d1/execute')],
  calls: ['region 1', 'region.d1 execute peer-1 1'],
};
const whole: Moments = {
  events: [at(''), at('/wave-001'), ...ofRegion.events, at('/wave-001/regions')],
  calls: ['plan 1', ...ofRegion.calls, 'regions 1'],
};

it('the moments of a delegation are its own, those of its phases, and those of tasks of its team', () => {
  expect(momentsOf(whole, 'region')).toEqual(ofRegion);
  expect(momentsOf(whole, undefined)).toEqual(whole);
});

it('calls of a reset run that may share the number of an activity share a key', () => {
  const wave = 'run/wave-001';
  const keys = [
    `${wave}/p1/writer/delegation/6`,
    `${wave}/p2/writer/delegation/6`,
    `${wave}/p2/writer/delegation/7`,
    'run/design/designer/design/6',
    `${wave}/planner/question_review/6`,
  ];
  const [first = ''] = keys;
  expect([...shareKeys(keys).values()]).toEqual([first, first, keys[2], keys[3], first]);
});
