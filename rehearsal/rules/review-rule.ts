import { textOf } from '../json.ts';
import type { JsonObject } from '../json.ts';
import type { Prompt } from './prompt.ts';

/** What the rehearsed planner says to an agent's questions: a default is assumed unless the question is critical, the rest is for the user. */
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
