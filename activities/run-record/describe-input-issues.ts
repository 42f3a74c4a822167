import { z } from 'zod';
import { AcceptanceCriterion, Delegation } from '../../contracts/delegation.ts';
import { LimitsInput } from '../../contracts/limits.ts';
import { handOverFields, QuestionRulesInput } from '../../contracts/question-rules.ts';
import { listNames } from '../../core/text/list-names.ts';
import { describeIssues, wholePath } from '../tools/describe-issues.ts';
import { joinSentences } from './input-fault.ts';
import type { InputFault } from './input-fault.ts';

/** Everything that a schema found in a typed input, none left out, each with what was expected. */
export function describeInputIssues(
  error: z.ZodError,
  fields: readonly string[],
): readonly InputFault[] {
  return error.issues.flatMap((issue) => {
    const known = issue.code === 'unrecognized_keys' ? fieldsAt(issue.path, fields) : null;
    // One at a time, because a list is cut to what a model can mend at once.
    return describeIssues(new z.ZodError([issue])).map(({ path, reason, hint }) => ({
      path: path === wholePath ? 'input' : path,
      reason: joinSentences(reason, known === null ? hint : `Fields are: ${listNames(known)}`),
    }));
  });
}

/** The fields that an object of the input may have; those of the whole input are given. */
function fieldsAt(path: readonly PropertyKey[], fields: readonly string[]): readonly string[] {
  if (path.length === 0) return fields;
  if (path[0] === 'limits') return Object.keys(LimitsInput.shape);
  if (path[0] === 'questions') {
    return path.length === 1 ? Object.keys(QuestionRulesInput.shape) : handOverFields;
  }
  return Object.keys(
    path.includes('acceptance_criteria') ? AcceptanceCriterion.shape : Delegation.shape,
  );
}
