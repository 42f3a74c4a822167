import { textOf } from '../json.ts';
import type { JsonObject } from '../json.ts';
import type { Prompt } from './prompt.ts';

/**
 * Reviews an agent's questions like the planner: a default is assumed unless the question is critical; all others go to
 * the user.
 */
export function reviewQuestions(prompt: Prompt): JsonObject {
  return {
    reviews: prompt.questions.map((question, index) => {
      const fallback = textOf(question['default_answer']);
      const isAssumed = fallback !== '' && textOf(question['priority']) !== 'critical';
      return {
        question: index + 1,
        verdict: isAssumed ? 'assumed' : 'needs_user_input',
        answer: isAssumed ? fallback : null,
        source_refs: [],
        reason: isAssumed
          ? 'A rule of the rehearsal model takes the default of the one who asks.'
          : 'A rule of the rehearsal model: what is critical or has no default is for the user.',
      };
    }),
  };
}
