/**
 * Orders the judgement of a triad that verifies.
 *
 * Invariants:
 *   VJ1. The judgement is the work of the named triad on one section. It reads the output and what its author built on.
 *   VJ2. It names each criterion of the output, and has room for whatever comes with it: a task has a limit.
 *   VJ3. It changes nothing, and is never verified itself.
 */
import type { Delegation } from '../../contracts/delegation.ts';
import { taskPartOf } from '../design/task-rules.ts';
import { cutText } from '../text/cut-text.ts';
import { bullets, joinSections, oneLine } from '../text/markdown.ts';

/** Texts that a judgement looks at besides the output. Empty where there is none. */
export interface ToJudge {
  /** Checks of code, commands of the author and changes of files, as JSON. */
  readonly evidence: string;
  /** Notes of the author, as JSON. */
  readonly notes: string;
  /** Words of the user on the task, which bind. */
  readonly guidance: string;
}

/** Shares of a task's 20,000 characters. Criteria take at most 20 × 260. */
const charsMax = { task: 4_000, evidence: 6_000, notes: 2_000, guidance: 1_000, criterion: 200 };

const sectionText =
  'The judgement: for each acceptance criterion of the output, by its id, whether the output shows it and where you saw that, or what its author must still show or mend; for each note, whether the output can stand on it; and at the end pass or fail.';

/** @throws when the delegation names no triad that verifies it. */
export function orderJudgement(
  author: Delegation,
  judgement_id: string,
  shown: ToJudge,
): Delegation {
  const { delegation_id, required_inputs, verification } = author;
  if (verification?.triad === undefined) throw new Error(`No triad verifies ${delegation_id}.`);
  const needed = [...new Set([delegation_id, ...required_inputs])];
  return {
    delegation_id: judgement_id,
    agent_id: verification.verified_by,
    title: cutText(`Judge "${oneLine(author.title)}"`, 120),
    task_description: describe(author, shown),
    acceptance_criteria: [{ criterion_id: 'judgement', description: sectionText }],
    required_inputs: needed,
    provided_inputs: needed,
    depends_on: [],
    produces: [],
    executor: { kind: 'triad', ...verification.triad },
    judges: delegation_id,
  };
}

/** @returns nothing for an empty text. */
function part(heading: string, text: string, max: number): string[] {
  return text.trim() === '' ? [] : [`## ${heading}\n${cutText(text.trim(), max)}`];
}

function describe(
  { delegation_id, title, task_description, acceptance_criteria }: Delegation,
  { evidence, notes, guidance }: ToJudge,
): string {
  const task = taskPartOf(task_description);
  return joinSections([
    `Judge the output of ${delegation_id}, "${oneLine(title)}", before anybody builds on it. You have the output and the evidence, not how it came about: judge only what is there. Look it up with your tools where you can. You change nothing, run nothing and mend nothing.`,
    'The judgement is "pass" only when every criterion is shown and the output can stand on every note, else "fail". Style and taste are no gap. A check that "passed" needs no second look; one that was "not_run" is for you to judge. That the output fails is a result, and no failure of your task.',
    `## Acceptance criteria of the output\n${bullets(
      acceptance_criteria.map(
        ({ criterion_id, description }) =>
          `${criterion_id}: ${cutText(oneLine(description), charsMax.criterion)}`,
      ),
      '',
    )}`,
    ...part('The task of its author', task, charsMax.task),
    ...part('Words of the user on the task. They bind.', guidance, charsMax.guidance),
    ...part('Gathered evidence', evidence, charsMax.evidence),
    ...part('Notes of its author', notes, charsMax.notes),
  ]);
}
