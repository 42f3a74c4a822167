import { workflowTypes } from '../../contracts/names.ts';
import type { PlannerWaveInput, WaveResult } from '../../contracts/planner-wave.ts';
import { work } from '../support/scripted-work.ts';
import { writeJob } from './bench-job.ts';
import type { BenchStage } from './bench-stage.ts';
import { decisionJob, equalWave, usualWave } from './bench-wave.ts';
import type { BenchWave } from './bench-wave.ts';
import type { TriadMember, TriadPlan } from '../../contracts/triad.ts';

const members: readonly TriadMember[] = [
  { name: 'proposer', role: 'proposer', agent_id: 'researcher' },
  { name: 'critic', role: 'critic', agent_id: 'reviewer' },
  { name: 'synthesizer', role: 'synthesizer', agent_id: 'writer' },
];

const triad: TriadPlan = {
  type: 'dialectic',
  reason: 'It is what is measured.',
  members: [...members],
};

/** As many calls as the usual wave, in its order: three triads of three phases of three turns, and the decision. */
export function triadWave(delayMs: number): BenchWave {
  const { tasks, ...wave } = equalWave({ ...usualWave, delayMs });
  return {
    ...wave,
    tasks: tasks.map((task) => ({ ...task, job: { ...task.job, by: 'triad' } })),
  };
}

function composeInput(wave: BenchWave): PlannerWaveInput {
  return {
    goal: `Measure. ${writeJob(decisionJob(wave))}`,
    delegations: wave.tasks.map(({ job }) =>
      work(job.id, {
        agent_id: 'writer',
        task_description: `Do it together. ${writeJob(job)}`,
        triad,
      }),
    ),
    limits: { max_parallel: wave.parallel },
  };
}

/**
 * Lets the engine do a wave of triads to its end.
 *
 * @throws when it did not do all of its work, with as many model calls as the others make and no more.
 */
export async function runTriadWave(
  stage: BenchStage,
  wave: BenchWave,
  workflowId: string,
): Promise<void> {
  const result: WaveResult = await stage.client.workflow.execute(workflowTypes.plannerWave, {
    taskQueue: stage.taskQueue,
    workflowId,
    // What the model server refuses to answer is tried for ever.
    workflowExecutionTimeout: '10 minutes',
    args: [composeInput(wave)],
  });
  const { status, outcomes, usage } = result;
  const calls = wave.tasks.reduce((sum, { job }) => sum + job.turns, 1);
  const undone = outcomes.filter((outcome) => outcome.status !== 'completed');
  if (status === 'decided' && undone.length === 0 && usage.calls === calls) return;
  const example = undone[0]?.reason ?? '';
  throw new Error(
    `${workflowId} ended as ${status} after ${usage.calls} calls instead of ${calls}. ${example}`,
  );
}
