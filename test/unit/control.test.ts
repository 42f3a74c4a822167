import { createControl } from '../../workflows/shared/control.ts';

/** Global variable in which the SDK keeps the workflow at work. Its log is all that this test needs of it. */
const activator = '__TEMPORAL_ACTIVATOR__';
beforeEach(() => {
  const interceptors = { outbound: [] };
  const workflow = {
    interceptors,
    info: {},
    sinkCalls: [],
    getTimeOfDay: () => 0n,
    patchInternal: () => true,
  };
  Reflect.set(globalThis, activator, workflow);
});
afterEach(() => Reflect.deleteProperty(globalThis, activator));

const soon = Date.now() + 60_000;

/** Parks until a time, goes on by itself, and is refused again at once. */
function parkAgain() {
  const control = createControl({ paused: null, parked: null });
  control.park('the budget of acme is reserved', soon);
  expect(control.hasParkedAgain()).toBe(false);
  control.wake();
  control.park('the budget of acme is reserved', soon);
  return control;
}

it('NT3: a run that goes on by itself and is refused at once has parked again, whatever the amounts', () => {
  const control = parkAgain();
  expect(control.hasParkedAgain()).toBe(true);
  control.park('the budget of acme is reserved: $4.20 of $5', soon + 60_000);
  expect(control.hasParkedAgain()).toBe(true);
});

it.each([true, false])(
  'NT3: a run that goes on by itself and is refused for another reason is told, also beside the first: %s',
  (isBeside) => {
    const control = parkAgain();
    if (!isBeside) control.wake();
    control.park('the budget of acme is used up', soon + 60_000);
    expect(control.hasParkedAgain()).toBe(false);
    control.wake();
    // Now each is known.
    for (const state of ['used up', 'reserved']) {
      control.park(`the budget of acme is ${state}`, soon);
      expect(control.hasParkedAgain()).toBe(true);
    }
  },
);

it('NT3: a reason that stood beside a park of which a person was told is told when it is met again', () => {
  const control = createControl({ paused: null, parked: null });
  control.park('the budget of acme is reserved', soon);
  control.park('the budget of acme is used up', soon);
  control.wake();
  control.park('the budget of acme is used up', soon);
  expect(control.hasParkedAgain()).toBe(false);
});

it('NT3: a run that parked again and then no longer goes on by itself needs a person', () => {
  const control = parkAgain();
  control.park('the key is refused');
  expect(control.hasParkedAgain()).toBe(false);
});

it('NT3: a run that parked again before continue-as-new is not told after it', () => {
  const control = createControl({ paused: null, parked: 'reserved', again: true });
  control.park('reserved', soon);
  expect(control.hasParkedAgain()).toBe(true);
});
