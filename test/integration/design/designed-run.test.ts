import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { Question } from '../../../contracts/question.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** Answers every question of a design by its default or first choice, until this kind is asked. */
async function untilAsked(run: WorkflowHandle, kind: Question['kind']): Promise<Question> {
  return eventually(
    `a question of kind ${kind}`,
    async () => {
      const { open } = await stage.questions(run);
      for (const question of open.filter((one) => one.kind !== kind)) {
        const answer = question.default_answer ?? question.choices[0] ?? 'As you see fit.';
        await run.signal('answer', { question_id: question.question_id, answer });
      }
      return open.find((one) => one.kind === kind);
    },
    60_000,
  );
}

it('takes a goal to an approved plan and its result', async () => {
  const goal = 'Compare three ways to store a backup';
  const run = await stage.start('plannerRun', { goal, mode: 'designed' });
  const question = await untilAsked(run, 'plan_approval');
  expect(question.choices).toEqual(['approve', 'change', 'abandon']);
  await run.signal('answer', { question_id: question.question_id, answer: 'approve' });
  await untilEnded(run);
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed' });
  const file = (path: string) => readFileSync(join(stage.home, run.workflowId, path), 'utf8');
  expect(file('workflow_coordination_plan.md')).toContain('```mermaid');
  await expectPromisesKept(stage, run.workflowId);
}, 120_000);

async function untilEnded(run: WorkflowHandle): Promise<void> {
  await eventually(
    'the end of the run',
    async () => {
      const { open } = await stage.questions(run);
      for (const { question_id, choices, default_answer } of open) {
        const answer = default_answer ?? choices[0] ?? 'As you see fit.';
        await run.signal('answer', { question_id, answer });
      }
      const { status } = await run.describe();
      return status.name !== 'RUNNING';
    },
    90_000,
  );
}
