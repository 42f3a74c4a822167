import { z } from 'zod';

/** Whether a run puts questions that are not critical to the user, or lets agents assume. */
export const Autonomy = z.enum(['ask', 'assume']);
export type Autonomy = z.infer<typeof Autonomy>;

const seconds = (description: string): z.ZodNumber =>
  z.number().int().min(1).max(31_536_000).describe(description);

/** Somebody else whom a question is for when it was not answered in time. */
const HandOverInput = z.strictObject({
  person: z
    .string()
    .trim()
    .min(1, 'a name is missing. Try: "Maria"')
    .max(80)
    .describe('Shown beside the question; whoever is at hand tells the person.'),
  after_seconds: seconds('Seconds after asking.'),
});

/** What a person may type about questions that nobody answers: `{"deadline_seconds":7200}`. */
export const QuestionRulesInput = z.strictObject({
  deadline_seconds: seconds(
    'Seconds after asking at which the default of a question is taken, where it has one.',
  ).optional(),
  remind_seconds: seconds('Seconds after asking until the first reminder.').optional(),
  escalate_to: HandOverInput.optional(),
});
export type QuestionRulesInput = z.infer<typeof QuestionRulesInput>;

export type HandOver = Readonly<z.infer<typeof HandOverInput>>;

/** The rules that hold for a run: every field set. */
export interface QuestionRules {
  /** If null, no default is ever taken by itself. */
  readonly deadline_seconds: number | null;
  readonly remind_seconds: number;
  /** If null, nobody else is asked. */
  readonly escalate_to: HandOver | null;
}
