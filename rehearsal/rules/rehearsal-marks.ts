import { quote } from '../quote.ts';

/** In a task description: the agent asks the user before it completes. */
export const askMark = 'Ask the user who the result is for.';

/** In a task description: the agent's first report lacks a criterion, and is repaired when the check refuses it. */
export const slipMark = 'Report on every criterion, and repair the report when a check refuses it.';

const audienceStart = 'Who is the result of';

/** The one question of a rehearsed run, in the shape of an asked question. */
export function audienceQuestion(goal: string): {
  readonly text: string;
  readonly choices: readonly string[];
  readonly defaultAnswer: string;
} {
  const choices = ['the person who decides', 'the team that builds it', 'everybody'];
  return {
    text: `${audienceStart} ${quote(goal)} for?`,
    choices,
    defaultAnswer: 'the person who decides',
  };
}

/** Whether a question is the one above, for whatever goal. */
export function isAudienceQuestion(text: string): boolean {
  return text.startsWith(audienceStart);
}
