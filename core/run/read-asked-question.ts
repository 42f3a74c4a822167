/**
 * A question as it comes over the wire, read field by field: zod stays out of workflow code.
 */
import type { AskedQuestion } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';

const choicesMax = 20;
const choiceCharsMax = 200;

const priorities: readonly AskedQuestion['priority'][] = ['critical', 'high', 'normal', 'low'];

const formats: readonly AskedQuestion['expected_answer_format'][] = [
  'text',
  'boolean',
  'number',
  'choice',
  'json',
];

/** @returns null when a field is missing or of another type. Long texts are cut: the asker waits for its answer. */
export function readAskedQuestion(value: unknown): AskedQuestion | null {
  if (typeof value !== 'object' || value === null) return null;
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const priority = priorities.find((p) => p === fields['priority']);
  const format = formats.find((f) => f === fields['expected_answer_format']);
  const text = readText(fields['text']);
  const why = readText(fields['why_it_matters']);
  const choices = readChoices(fields['choices']);
  if (priority === undefined || format === undefined) return null;
  if (text === null || text === '' || why === null || choices === null) return null;
  const fallback = readDefault(fields['default_answer']);
  if (fallback === undefined) return null;
  return {
    text,
    why_it_matters: why,
    priority,
    expected_answer_format: format,
    choices,
    default_answer: fallback,
    ...readFactKey(fields['fact_key']),
  };
}

/** Anything but a key that fits is left out: the answer is then a fact in words. */
function readFactKey(value: unknown): Pick<AskedQuestion, 'fact_key'> {
  const fits =
    typeof value === 'string' && value !== '' && value.length <= engineLimits.factKeyCharsMax;
  return fits ? { fact_key: value } : {};
}

/** A cut default would be another answer, so one that is too long is left out. Undefined: neither text nor null. */
function readDefault(value: unknown): string | null | undefined {
  if (value === null) return null;
  if (typeof value !== 'string') return undefined;
  return value.length <= engineLimits.questionCharsMax ? value : null;
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? cutText(value, engineLimits.questionCharsMax) : null;
}

function readChoices(value: unknown): string[] | null {
  if (!Array.isArray(value) || value.length > choicesMax) return null;
  const choices = value.filter(
    (choice: unknown) => typeof choice === 'string' && choice.length <= choiceCharsMax,
  );
  return choices.length === value.length ? choices : null;
}
