import type { Priority } from '@temporalio/common';
import { workflowTypes } from '../../contracts/names.ts';
import type { PlannerWaveInput, WaveResult } from '../../contracts/planner-wave.ts';
import { work } from '../support/scripted-work.ts';
import { writeJob } from './bench-job.ts';
import type { BenchStage } from './bench-stage.ts';
import { decisionJob } from './bench-wave.ts';
import type { BenchWave } from './bench-wave.ts';

/** The wave's plan comes with its input, so that the model is called for the work and the decision alone. */
export function composeWaveInput(wave: BenchWave): PlannerWaveInput {
  const { tasks, parallel } = wave;
  return {
    goal: `Measure. ${writeJob(decisionJob(wave))}`,
    delegations: tasks.map(({ job, dependsOn }) =>
      work(job.id, {
        task_description: `Do it. ${writeJob(job)}`,
        depends_on: [...dependsOn],
        required_inputs: [...dependsOn],
      }),
    ),
    limits: {
      max_turns: Math.max(...tasks.map(({ job }) => job.turns)),
      max_parallel: parallel,
      max_delegations: tasks.length,
    },
  };
}

/**
 * Lets the engine do the wave to its end.
 *
 * @param priority Priority and tenant of all its work. Default: none.
 * @returns milliseconds from the start command until its result is here.
 * @throws when it did not do all of its work, and no more.
 */
export async function runEngineWave(
  stage: Pick<BenchStage, 'client' | 'taskQueue'>,
  wave: BenchWave,
  workflowId: string,
  priority: Priority = {},
): Promise<number> {
  const startedAt = performance.now();
  const result: WaveResult = await stage.client.workflow.execute(workflowTypes.plannerWave, {
    taskQueue: stage.taskQueue,
    workflowId,
    args: [composeWaveInput(wave)],
    priority,
  });
  const ms = performance.now() - startedAt;
  assertDone(result, wave, workflowId);
  return ms;
}

function assertDone({ status, outcomes }: WaveResult, wave: BenchWave, workflowId: string): void {
  const byId = new Map(outcomes.map((outcome) => [outcome.delegation_id, outcome]));
  const missed = wave.tasks.flatMap(({ job }) => {
    const outcome = byId.get(job.id);
    if (outcome?.status === 'completed' && outcome.turns === job.turns) return [];
    return [`${job.id} ${outcome?.status} after ${outcome?.turns} turns ${outcome?.reason}`];
  });
  if (status === 'decided' && missed.length === 0) return;
  const example = missed[0] ?? '';
  throw new Error(`${workflowId} ended as ${status}, ${missed.length} tasks undone: ${example}`);
}
