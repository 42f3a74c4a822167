/**
 * Rules of a plan's roles (seed 003, Issue 1), and the parts of a task's instructions: what is about the task, and the rules
 * of its author.
 *
 * Invariants:
 *   TR1. Text that `renderTaskInstructions` (`templates.ts`) did not make stays whole.
 *   TR2. Other words for the task leave its inputs, outputs, evidence and rules as they are.
 */
import { embedMarkdown } from '../text/markdown.ts';
import type { RosterRole } from '../../contracts/coordination-plan.ts';

const doerEscalation = `## Escalation
You MUST escalate, and not decide yourself:
- Technology and tools: languages, frameworks, libraries, databases, even where the choice seems obvious.
- Architecture: system design, component structure, integration patterns.
- Security: authentication, encryption, access control.
- Requirements: business rules, constraints on data, what the user wants.
- Conflicting guidance between these instructions, the conversation summary and other documents.

You may decide, and note with your evidence:
- Consistency: names, formats, patterns that exist already.
- Obvious bugs with one clear correction.
- Details of implementation within the settled technology and architecture.
- Documentation and comments.

When in doubt, escalate. In this plan that goes before any rule to take the careful choice.`;

const architectEscalation = `## Escalation
You decide what doers must escalate: technology and tools, architecture, security. For each decision give the alternatives, why you rejected them, and what follows for the tasks that depend on it.

You MUST escalate, and not decide yourself:
- Requirements: business rules, constraints on data, what the user wants.
- Conflicting guidance between these instructions, the conversation summary and other documents.
- A decision that would change what another task of the plan has already produced.`;

const verifierEscalation = `## Escalation
You judge, and change nothing: what is wrong goes back to its author.
You MUST escalate: evidence that can't be judged as it is written, and requirements that contradict each other.`;

const workRules = `## Reading and writing
- Read first: these instructions, the results of the tasks you depend on, each input listed above, and feedback of a verifier if there is any.
- Write your outputs to the paths listed above, in the formats listed there, and no other file of the plan. Without a tool that writes files, your detailed_md is the file: give its content there, whole. Only what is written reaches the tasks that depend on you.

## Notes
- Whenever you assume something or are unsure, during the work and while you review it, make a note: what you assume, and what you were doing when it arose.
- Before you finish, go through all notes. Each is then resolved, with how and by what evidence, or escalated, with the reason. What is resolved by assumption belongs in assumptions_made. What is escalated becomes a question by itself: no blocking question repeats it.

## Status
- pending → working: when you begin.
- working → completion_drive_review: when you believe that the work is done. Review all notes then.
- completion_drive_review → ready_for_verification: when no note is open or escalated. Your output then says "completed".
- working or completion_drive_review → blocked: when a note must be escalated. Your output then says "blocked".
- ready_for_verification → verified: by your verifier, never by you.

## Turn
1. Start: read what is listed under "Reading and writing".
2. Work: do the task and keep notes.
3. End: review the notes, write the outputs, show each piece of evidence, and report the status. After a failed verification mend what the feedback names, and show the evidence anew.`;

const verifierRules = `## Reading and writing
- Read: the outputs, the changes, the notes and the evidence that each task requires. You don't see how its author reasoned.
- Write: a verdict for each task. On failure it lists the missing evidence, so that the author can mend it without you.

## Verdict
- Judge each piece of evidence by itself: it is there and shows what it must, or it is missing. Look it up; a claim is no evidence.
- Judge the notes too: each is resolved with evidence, and none that had to be escalated was decided by the author.
- A task passes when all its evidence is there. Otherwise it fails, and goes back to its author with your list.
- You never verify work of your own.

## Status
- ready_for_verification → verified: when a task passes. Feedback of an earlier attempt is then deleted.
- ready_for_verification → working: when it fails.
- After five failures of one task the user decides.

## Turn
1. Start: read the task's instructions and its evidence, then its outputs.
2. Work: check one piece of evidence after the other.
3. End: write the verdict and report it.`;

/** Rules of each role, which its instructions end in. */
export const rulesOf: Readonly<Record<RosterRole, string>> = {
  doer: `${doerEscalation}\n\n${workRules}`,
  solution_architect: `${architectEscalation}\n\n${workRules}`,
  verifier: `${verifierEscalation}\n\n${verifierRules}`,
};

/** Longest instructions of one task, equal to the limit of a delegation's task. */
export const instructionCharsMax = 20_000;

const beginsTask = '\n## Your task\n';
const endsTask = '\n\n## Inputs\n';

/** Returns instructions without the rules of the author's role: a reader who is not the author takes them for its own. */
export function withoutRules(instructions: string): string {
  const end = findRules(instructions);
  return end === null ? instructions : `${instructions.slice(0, end).trimEnd()}\n`;
}

/** Returns only the parts about the task, from "Your task" on. */
export function taskPartOf(instructions: string): string {
  const end = findRules(instructions);
  if (end === null) return instructions;
  return instructions.slice(instructions.indexOf(beginsTask), end).trim();
}

/** Returns only the words for the work itself. */
export function taskWordsOf(instructions: string): string {
  const from = instructions.indexOf(beginsTask);
  const to = instructions.indexOf(endsTask, from);
  return from === -1 || to === -1
    ? instructions
    : instructions.slice(from + beginsTask.length, to).trim();
}

/** Returns instructions with other words for the work itself. For a text that the engine did not make, these words are all. */
export function rewordTask(instructions: string, words: string): string {
  const from = instructions.indexOf(beginsTask);
  const to = instructions.indexOf(endsTask, from);
  if (findRules(instructions) === null || to === -1) return words;
  const embedded = embedMarkdown(words, {
    charsMax: instructionCharsMax,
    whole: "the user's instructions",
    depth: 2,
  }).trim();
  return `${instructions.slice(0, from)}${beginsTask}${embedded}${instructions.slice(to)}`;
}

/** @returns where the rules begin; null when the text is not the engine's. */
function findRules(instructions: string): number | null {
  const text = instructions.trimEnd();
  const rules = [rulesOf.doer, rulesOf.solution_architect].find((one) =>
    text.endsWith(`\n\n${one}`),
  );
  if (rules === undefined || !text.includes(beginsTask)) return null;
  return text.length - rules.length;
}
