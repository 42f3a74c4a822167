/**
 * Compares the judged criteria of a proof of concept with those of the plan. Workflows have their keys only: the texts
 * stay in the plan and in the reply.
 *
 * Invariants:
 *   JC1. Each criterion of the task is judged exactly once, and nothing else is judged.
 *   JC2. Case, spaces and punctuation make no other criterion; success and failure do.
 *   JC3. Each fault names the place in the reply, or the criterion by its number in the plan.
 */
import type { ProofReview } from '../../contracts/adaptation.ts';
import type { ProofOfConcept } from '../../contracts/coordination-plan.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { hashText } from '../text/hash-text.ts';
import { normaliseText } from '../text/cut-text.ts';

type JudgedCriterion = Pick<ProofReview['criteria'][number], 'kind' | 'criterion'>;

/** @returns `success:<hash>` or `failure:<hash>`. */
function keyOf({ kind, criterion }: JudgedCriterion): string {
  return `${kind}:${hashText(normaliseText(criterion))}`;
}

/** Returns the keys of a proof's criteria, each kind in the order of the plan. */
export function keysOfProof({ success_criteria, failure_criteria }: ProofOfConcept): string[] {
  return [
    ...success_criteria.map((criterion) => keyOf({ kind: 'success', criterion })),
    ...failure_criteria.map((criterion) => keyOf({ kind: 'failure', criterion })),
  ];
}

/** Returns the keys of what was judged, in the order of the reply. */
export function keysOfReview(criteria: readonly JudgedCriterion[]): string[] {
  return criteria.map(keyOf);
}

export function checkJudged(asked: readonly string[], judged: readonly string[]): OutputFault[] {
  const wrong = judged.flatMap((key, at): OutputFault[] => {
    const path = `criteria/${at}`;
    if (!asked.includes(key)) return [{ path, ...unknown }];
    return judged.indexOf(key) === at ? [] : [{ path, ...again }];
  });
  const missing = asked
    .filter((key, at) => !judged.includes(key) && asked.indexOf(key) === at)
    .map((key) => nameOf(key, asked));
  if (missing.length === 0) return wrong;
  const reason = `these criteria of the task are not judged: ${missing.join(', ')}`;
  return [...wrong, { path: 'criteria', reason, hint: 'Try: judge each of them, word for word' }];
}

const unknown = {
  reason: 'the task has no such criterion of this kind',
  hint: 'Try: copy it from success_criteria or failure_criteria of the task, word for word',
};
const again = { reason: 'it is judged twice', hint: 'Try: judge each criterion once' };

/** @returns `success criterion 2`, as the plan counts. */
function nameOf(key: string, asked: readonly string[]): string {
  const [kind = ''] = key.split(':', 1);
  const same = asked.filter((one) => one.startsWith(`${kind}:`));
  return `${kind} criterion ${same.indexOf(key) + 1}`;
}
