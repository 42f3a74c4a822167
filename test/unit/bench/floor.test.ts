import { composeBenchReply } from '../../bench/bench-reply.ts';
import { equalWave, usualWave } from '../../bench/bench-wave.ts';
import type { BenchWave } from '../../bench/bench-wave.ts';
import { createFloor } from '../../bench/floor.ts';
import type { Floor } from '../../bench/floor.ts';
import { startRehearsalServer } from '../../../rehearsal/server/server.ts';
import type { RehearsalServer } from '../../../rehearsal/server/server.ts';

let model: RehearsalServer;
let floor: Floor;
beforeAll(async () => {
  model = await startRehearsalServer({ port: 0, thinkMs: 0 });
  floor = createFloor(model.url);
});
beforeEach(() => {
  model.reset();
  model.script([{ reply: composeBenchReply }]);
});
afterAll(async () => {
  floor.close();
  await model.close();
});

/** In the order of arrival: `d1/0` is the first call of d1. */
function arrived(): string[] {
  return model.calls().map(({ callKey }) => callKey.replace(/^w\//, ''));
}

it('the floor makes the calls of the usual wave and of its decision, and no more', async () => {
  await floor.wave(equalWave({ ...usualWave, delayMs: 20 }), 'w');
  expect(model.counts()).toMatchObject({ calls: 28, ended: 28, maxInFlight: 3 });
  expect(arrived().at(-1)).toBe('goal/0');
  expect(arrived().filter((key) => key.startsWith('d2/'))).toEqual(
    Array.from({ length: 9 }, (_, turn) => `d2/${turn}`),
  );
});

it('each call carries the replies before it, about 1 KB each', async () => {
  await floor.wave(equalWave({ ...usualWave, delegations: 1 }), 'w');
  const sizes = model.calls().map(({ body }) => JSON.stringify(body).length);
  const grown = (sizes[8] ?? 0) - (sizes[0] ?? 0);
  expect(grown).toBeGreaterThan(8 * 1_000);
  expect(grown).toBeLessThan(8 * 1_200);
});

it('a task waits for those it depends on and for a free place', async () => {
  const wave: BenchWave = {
    tasks: ['a', 'b', 'c'].map((id, index) => ({
      job: { id, turns: 1, by: 'pause', delayMs: 0 },
      dependsOn: index === 2 ? ['a'] : [],
    })),
    parallel: 1,
    decisionMs: 0,
  };
  await floor.wave(wave, 'w');
  expect(arrived()).toEqual(['a/0', 'b/0', 'c/0', 'goal/0']);
  expect(model.counts().maxInFlight).toBe(1);
});

it('a server that refuses ends the measurement', async () => {
  model.script([{ reply: { status: 529 } }]);
  await expect(floor.wave(equalWave(usualWave), 'w')).rejects.toThrow('answered 529');
});
