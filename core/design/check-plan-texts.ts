/** Checks the texts of a plan (rules DP8, DP9 and DP27 of `check-plan-file`). */
import type { CoordinationPlan, PlanFinding, PlanTask } from '../../contracts/coordination-plan.ts';
import { instructionCharsMax } from './task-rules.ts';
import { findUnwritten, findUnwrittenEntry, renderTaskInstructions } from './templates.ts';

export function checkTexts(plan: CoordinationPlan): PlanFinding[] {
  return [
    ...plan.tasks.flatMap((task, at) => [
      ...checkWritten(
        { instructions: task.instructions },
        { place: `tasks/${at}`, find: findUnwritten },
      ),
      ...checkWritten(entriesOf(task), { place: `tasks/${at}`, find: findUnwrittenEntry }),
      ...checkLength(plan, task, `tasks/${at}/instructions`),
    ]),
    ...plan.risks.flatMap(({ assumption, mitigation }, at) =>
      checkWritten({ assumption, mitigation }, { place: `risks/${at}`, find: findUnwrittenEntry }),
    ),
    ...checkEscalation(plan),
  ];
}

/** Returns what an agent reads of a task besides its instructions, by its place. Evidence has a rule of its own. */
function entriesOf({ title, proof_of_concept: proof }: PlanTask): Record<string, string> {
  const criteria = Object.entries({
    success_criteria: proof?.success_criteria ?? [],
    failure_criteria: proof?.failure_criteria ?? [],
  }).flatMap(([list, entries]) =>
    entries.map((text, at) => [`proof_of_concept/${list}/${at}`, text] as const),
  );
  return { title, ...Object.fromEntries(criteria) };
}

function checkWritten(
  texts: Readonly<Record<string, string>>,
  { place, find }: { readonly place: string; readonly find: (text: string) => string[] },
): PlanFinding[] {
  return Object.entries(texts).flatMap(([name, text]) =>
    find(text).map((where) => ({
      rule: 'DP8',
      path: `${place}/${name}`,
      message: `something was left to be written: ${where}`,
      cure: 'Write what belongs there, or leave the place out',
    })),
  );
}

function checkLength(plan: CoordinationPlan, task: PlanTask, path: string): PlanFinding[] {
  const { length } = renderTaskInstructions(plan, task);
  if (length <= instructionCharsMax) return [];
  return [
    {
      rule: 'DP9',
      path,
      message: `with inputs, outputs, evidence and rules the instructions have ${length} characters, at most ${instructionCharsMax}`,
      cure: 'Shorten them, or split the task',
    },
  ];
}

function checkEscalation({ escalation }: CoordinationPlan): PlanFinding[] {
  const isUnwritten = escalation.every(
    (step) => step.trim() === '' || findUnwrittenEntry(step).length > 0,
  );
  if (!isUnwritten) return [];
  return [
    {
      rule: 'DP27',
      path: 'escalation',
      message: 'nothing says what happens when a task is blocked',
      cure: 'List the steps in order: who is asked first, and when the user is',
    },
  ];
}
