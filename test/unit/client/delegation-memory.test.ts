import { createDelegationMemory } from '../../../client/cli/follow/read-snapshot.ts';
import type { DelegationReading } from '../../../client/read-work.ts';
import { createFakeClient } from './support/fake-client.ts';
import { delegationView, noUsage } from './support/samples.ts';

const triad = {
  type: 'consensus',
  phase: 'deliberate',
  state: 'running',
  round: 1,
  rounds_max: 3,
  at_work: ['peer-1'],
  sections: [],
  claims: [],
} as const;

it('keeps what was told of usage and triad while no worker answers, and no phase of what has ended', async () => {
  const readings: DelegationReading[] = [
    { usage: noUsage, triad, team: null, verification: null, activities: [] },
    { usage: null, triad: null, team: null, verification: null, activities: [] },
  ];
  const silent: DelegationReading = {
    usage: null,
    triad: null,
    team: null,
    verification: null,
    activities: [],
  };
  const memory = createDelegationMemory(
    createFakeClient({ delegation: async () => readings.shift() ?? silent }),
  );
  const told = { usage: noUsage, triad_phase: triad };
  expect(await memory.complete(delegationView())).toMatchObject(told);
  expect(await memory.complete(delegationView())).toMatchObject(told);
  expect(await memory.complete(delegationView({ state: 'completed' }))).toMatchObject({
    usage: noUsage,
    triad_phase: null,
  });
});
