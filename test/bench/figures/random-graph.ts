import type { Prng } from '../../support/prng.ts';
import type { BenchTask, BenchWave } from '../bench-wave.ts';

const tasksMin = 8;
const tasksMax = 14;
const workMsMin = 200;
const workMsMax = 1_500;

/** How many of the tasks before it a task hangs on, at most, and how likely each of them is. */
const dependenciesMax = 3;
const dependencyChance = 0.25;

/** Tasks of one call each that depend on each other by chance. As many may work at once as there are. */
export function composeRandomGraph(prng: Prng): BenchWave {
  const tasks: BenchTask[] = [];
  const count = prng.integer(tasksMin, tasksMax);
  for (let nth = 1; nth <= count; nth += 1) {
    const dependsOn = prng
      .shuffle(tasks.map(({ job }) => job.id))
      .filter(() => prng.chance(dependencyChance))
      .slice(0, dependenciesMax);
    const delayMs = prng.integer(workMsMin, workMsMax);
    tasks.push({ job: { id: `d${nth}`, turns: 1, by: 'pause', delayMs }, dependsOn });
  }
  return { tasks, parallel: count, decisionMs: 0 };
}
