import { isObject, objectsOf, quote, stringsOf, textOf, type JsonObject } from '../messages-api.ts';
import { readDesignMarks } from './rehearsal-marks.ts';
import type { DesignRequest } from './design-change-rule.ts';

/** Request about work on a plan. */
type JudgeRequest = Pick<DesignRequest, 'goal' | 'tasks' | 'subject' | 'change' | 'works'>;

const judge = (kind: string, criterion: string, seen: boolean): JsonObject => ({
  kind,
  criterion,
  seen,
  where: 'Rehearsal: a rule decided it.',
});

function judgeProof({ goal, tasks, subject }: JudgeRequest): JsonObject {
  const { proofFails } = readDesignMarks(goal);
  const task = tasks.find((one) => one['task_id'] === subject);
  const proof = isObject(task?.['proof_of_concept']) ? task['proof_of_concept'] : {};
  return {
    criteria: [
      ...stringsOf(proof['success_criteria']).map((one) => judge('success', one, !proofFails)),
      ...stringsOf(proof['failure_criteria']).map((one) => judge('failure', one, proofFails)),
    ],
    assessment: proofFails ? 'fail' : 'pass',
    rationale: 'Rehearsal: a mark in the goal decides it.',
  };
}

function decideProof({ goal }: JudgeRequest): JsonObject {
  const { proofEscalates } = readDesignMarks(goal);
  return {
    decision: proofEscalates ? 'escalate' : 'adapt',
    rationale: 'Rehearsal: a mark in the goal decides it.',
    requirements: proofEscalates ? [] : ['What relies on the assumption takes another way.'],
  };
}

/**
 * Gives a task another instruction, or those that wait for a proof of concept or for what an answer contradicts; for a wish
 * of the user it adds a task.
 */
function adaptPlan({ tasks, subject, change, works }: JudgeRequest): JsonObject {
  const own = tasks.filter((task) => task['task_id'] === subject);
  const waitFor = (ids: readonly string[]): readonly JsonObject[] =>
    tasks.filter((task) => stringsOf(task['depends_on']).some((id) => ids.includes(id)));
  const conflicts = works.flatMap((work) => objectsOf(work['conflicts']));
  const proves = own.some((task) => isObject(task['proof_of_concept']));
  const contradicted = conflicts.flatMap((conflict) => stringsOf(conflict['tasks']));
  const isAnswer = conflicts.length > 0;
  const waiting = isAnswer || proves ? waitFor(isAnswer ? contradicted : [subject]) : own;
  const text = change === '' ? 'Rehearsal: take another way.' : `Rehearsal: ${quote(change, 400)}`;
  const [first] = waiting;
  const operations =
    change !== '' && first !== undefined
      ? [{ operation: 'add_task', task: copyTask(first, subject, text) }]
      : waiting.map((task) => ({
          operation: 'append_instructions',
          task_id: textOf(task['task_id']),
          heading: 'Change',
          text,
        }));
  return { explanation: text, operations };
}

/** Copies a task under another name, with files and evidence of its own. */
function copyTask(task: JsonObject, after: string, text: string): JsonObject {
  const name = 'rehearsed_step';
  const agent = textOf(task['agent']);
  const validation = isObject(task['validation']) ? task['validation'] : {};
  return {
    ...task,
    task_id: `${name}_${textOf(task['task_id']).slice(-10)}`,
    title: 'Take a further step',
    instructions: `${textOf(task['instructions'])}\n\n## Change\n${text}`,
    inputs: [],
    outputs: [{ path: `agents/${agent}/task_output/${name}.md`, format: 'Markdown' }],
    depends_on: [after],
    validation: {
      ...validation,
      evidence: objectsOf(validation['evidence'])
        .slice(0, 1)
        .map((one) => ({ ...one, evidence_id: name.replaceAll('_', '-') })),
    },
  };
}

export const judgeRules = {
  poc_evidence: judgeProof,
  poc_decision: decideProof,
  loop_analysis: () => ({
    root_cause: 'planning_gap',
    explanation: 'Rehearsal: no task makes what the question asks for.',
    requirements: ['The answer stands in the instructions of the task.'],
    user_questions: [],
  }),
  adaptation: adaptPlan,
  explanation: ({ subject, tasks }) => ({
    answer: `Rehearsal: ${tasks.length} tasks stand in the plan. No model was called.`,
    amendment: /change|instead/i.test(subject) ? 'Rehearsal: change what was asked about.' : null,
  }),
} as const satisfies Readonly<Record<string, (request: JudgeRequest) => JsonObject>>;
