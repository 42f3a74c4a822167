import type { Question } from '../../../contracts/question.ts';
import type { Reply, ScriptedRequest } from '../../../rehearsal/script.ts';
import { readStage } from '../scripted-design.ts';
import { hear } from './conversation.ts';
import { replyToDesign } from './design-replies.ts';
import { loopQuestion, replyToJudging, replyToVerification } from './judge-replies.ts';
import { asked, replyToWork } from './work-replies.ts';

/**
 * One run with all of seed 003 on a repository: an interview, a design with a finding, two proofs of concept of which one
 * adapts the plan, five doers with edits and commands, verifiers, questions to the user and to the architect, a loop that
 * adapts the plan, and five failed verifications. Each reply depends on its request alone.
 */
export const seedGoal = 'Export the orders of the shop as CSV and read them again [flawed]';

export function replyToSeedRun(request: ScriptedRequest): Reply {
  const heard = hear(request);
  const called = readStage(request);
  const delegation_id = request.task?.delegation_id ?? '';
  const reply =
    called !== null
      ? (replyToDesign(called.stage, heard.idOf) ??
        replyToJudging(called.stage, called.subject ?? '', heard))
      : request.shape === 'verification'
        ? replyToVerification(delegation_id, heard)
        : request.shape === 'delegation' || request.shape === null
          ? replyToWork(delegation_id, heard)
          : null;
  return reply ?? { pass: true };
}

/** Answers of the user, by the beginning of the question. */
const said: readonly (readonly [begin: string, answer: string])[] = [
  [asked.currency.text, asked.currency.answer],
  ...asked.orders.flatMap(({ text, answer }) => (answer === null ? [] : [[text, answer] as const])),
  [loopQuestion.text, loopQuestion.answer],
  ['The plan is to change', 'approve'],
  ['What guidance', 'Show the call of the program as an example.'],
];

/** Returns the answer of the user: by the text, else the first thing that the question offers. */
export function answerSeedRun({ text, kind, default_answer, choices }: Question): string {
  const known = said.find(([begin]) => text.startsWith(begin))?.[1];
  if (known !== undefined) return known;
  if (kind === 'verification') return 'guide';
  return default_answer ?? choices[0] ?? 'As you see fit.';
}
