import { z } from 'zod';

/** Handling of questions that are not critical: a run puts them to the user, or lets agents assume. */
export const Autonomy = z.enum(['ask', 'assume']);
export type Autonomy = z.infer<typeof Autonomy>;

const seconds = (description: string): z.ZodNumber =>
  z.number().int().min(1).max(31_536_000).describe(description);

/** Another person that a question is for when it was not answered in time. */
const HandOverInput = z.strictObject({
  person: z
    .string()
    .trim()
    .min(1, 'a name is missing. Try: "Maria"')
    .max(80)
    .describe('Shown beside the question; whoever is at hand tells the person.'),
  after_seconds: seconds('Seconds after asking.'),
});

/** Typed rules for unanswered questions: `{"deadline_seconds":7200}`. */
export const QuestionRulesInput = z.strictObject({
  deadline_seconds: seconds(
    'Seconds after asking at which the default of a question is taken, where it has one.',
  ).optional(),
  remind_seconds: seconds('Seconds after asking until the first reminder.').optional(),
  escalate_to: HandOverInput.optional(),
});
export type QuestionRulesInput = z.infer<typeof QuestionRulesInput>;

export type HandOver = Readonly<z.infer<typeof HandOverInput>>;

/** The rules of a run, with every field set. */
export interface QuestionRules {
  /** If null, defaults are not applied automatically. */
  readonly deadline_seconds: number | null;
  readonly remind_seconds: number;
  /** If null, no other person is asked. */
  readonly escalate_to: HandOver | null;
}
