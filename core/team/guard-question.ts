/**
 * Words the question that a guardrail leaves to a person, and reads the answer.
 *
 * Invariants:
 *   GQ1. The text passes only by a clear "pass" of a person, never by a default, the planner or an assumption.
 *   GQ2. The question names guardrail, stage, delegation, reason and the address of the whole text.
 */
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import { engineLimits } from '../limits.ts';
import { isPerson } from '../questions/answer-kinds.ts';
import { cleanLine, cutText } from '../text/cut-text.ts';

interface GuardedText {
  readonly name: string;
  readonly stage: 'input' | 'output';
  readonly reason: string;
  readonly subject_ref: Ref;
  readonly delegation_id: string;
}

const choices = ['pass', 'block'];

const reasonCharsMax = 800;

export function guardQuestion(shown: GuardedText): AskedQuestion {
  const { name, stage, reason, subject_ref, delegation_id } = shown;
  const text = [
    `May the ${stage} of the team pass the guardrail "${cleanLine(name, 120)}"?`,
    `Delegation: ${delegation_id}`,
    `Found: ${cleanLine(reason, reasonCharsMax)}`,
    `SHA-256 of the whole text, and its address in the store: ${subject_ref}`,
  ].join('\n');
  return {
    text: cutText(text, engineLimits.questionCharsMax),
    why_it_matters:
      stage === 'input'
        ? 'Without a "pass" the team does not begin.'
        : 'Without a "pass" the answer is held back and the delegation fails.',
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: [...choices],
    default_answer: null,
  };
}

export function mayPassGuard(answer: DeliveredAnswer | undefined): boolean {
  return answer?.answer === 'pass' && isPerson(answer.answered_by);
}
