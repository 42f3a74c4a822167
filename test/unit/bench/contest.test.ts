import { measureInTurns } from '../../bench/contest.ts';
import type { Contestant } from '../../bench/contest.ts';

it('all are measured in every round, one at a time, and each begins one', async () => {
  const seen: string[] = [];
  let cpu = 0;
  const contestant = (name: string): Contestant => ({
    async wave(key) {
      seen.push(`${name} ${key}`);
      cpu += 10;
    },
    readCpu: async () => ({ server: cpu, worker: cpu * 2 }),
  });
  const results = await measureInTurns(
    {
      engine: contestant('engine'),
      floor: { ...contestant('floor'), readCpu: async () => null },
      others: [contestant('other')],
    },
    { name: 'wave', rounds: 3, together: 2 },
  );
  const firsts = seen.filter((_, index) => index % 6 === 0);
  expect(firsts).toEqual(['engine wave-1-1', 'floor wave-2-1', 'other wave-3-1']);
  expect(seen.slice(0, 6).filter((_, index) => index % 2 === 1)).toEqual([
    'engine wave-1-2',
    'floor wave-1-2',
    'other wave-1-2',
  ]);
  expect(new Set(seen).size).toBe(18);
  expect(results.others).toHaveLength(1);
  expect(results.others[0]?.ms.n).toBe(3);
  expect(results.engine.cpuMs).toEqual({ server: 10, worker: 20 });
  expect(results.engine.cpu).toBe('CPU of a wave: server 10 ms, worker 20 ms.');
  expect(results.floor.cpu).toBe('');
});
