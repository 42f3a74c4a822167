/**
 * The planner's verdict on a question as it comes over the wire, read field by field: zod stays out of workflow code.
 */
import type { PlannerVerdict } from '../../contracts/question-review.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';

const verdicts: readonly PlannerVerdict['verdict'][] = ['answered', 'assumed', 'needs_user_input'];

const sourceRefsMax = 20;
const sourceRefCharsMax = 200;

/** @returns null for anything else: the question is then treated as if the planner had not seen it. */
export function readPlannerVerdict(value: unknown): PlannerVerdict | null {
  if (typeof value !== 'object' || value === null) return null;
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const verdict = verdicts.find((one) => one === fields['verdict']);
  const { answer, reason } = fields;
  const refs: readonly unknown[] = Array.isArray(fields['source_refs'])
    ? fields['source_refs']
    : [];
  const source_refs = refs
    .filter((ref) => typeof ref === 'string')
    .filter((ref) => ref.length <= sourceRefCharsMax)
    .slice(0, sourceRefsMax);
  if (verdict === undefined || typeof reason !== 'string') return null;
  if (answer !== null && typeof answer !== 'string') return null;
  const said = cutText(reason, engineLimits.questionCharsMax / 2);
  return { verdict, answer, source_refs, reason: said };
}
