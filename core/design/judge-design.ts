/**
 * Judges after a designed run whether its design paid off.
 *
 * Invariants:
 *   DB1. Design and work add up to the run: no call counts twice, and none is left out.
 *   DB2. Only what the record shows is a sign. What a direct run would have cost is never claimed.
 */
import type { RecordedAdaptation } from '../../contracts/adaptation.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { RecordedCriterion, RunRecord } from '../../contracts/run-record.ts';
import type { Usage } from '../../contracts/usage.ts';
import { countOf, formatUsage } from '../text/format.ts';
import { subtractUsage } from '../usage/add-usage.ts';

export interface Judged extends Pick<RunRecord, 'design' | 'usage'> {
  readonly criteria: readonly Pick<RecordedCriterion, 'state' | 'delegation_id'>[];
  readonly waves: readonly {
    readonly outcomes: readonly Pick<DelegationOutcome, 'delegation_id' | 'verification'>[];
  }[];
}

interface DesignBalance {
  /** Design and every judgement of the work on its plan. */
  readonly design: Usage;
  readonly work: Usage;
  readonly criteria: {
    readonly all: number;
    readonly met: number;
    /** Met by an output that somebody other than its author verified. */
    readonly verified: number;
  };
  /** Reviews by the design verifier, during the work too. */
  readonly reviews: number;
  /** Versions of the plan before the work. */
  readonly versions: number;
  /** Proofs of concept that were judged, and those of them that did not pass. */
  readonly proofs: number;
  readonly proofs_not_passed: number;
  /** Questions that came again and again although the work was designed. */
  readonly loops: number;
}

/** Returns null for a run without a design. */
export function judgeDesign(record: Judged): DesignBalance | null {
  const { design, usage } = record;
  if (design === undefined) return null;
  const { adaptations = [], materials, plan_refs } = design;
  const causes = adaptations.map(({ cause }) => cause);
  const proofs = causes.filter((cause) => cause.type === 'proof_of_concept');
  return {
    design: design.usage,
    work: subtractUsage(usage, design.usage),
    criteria: countCriteria(record),
    reviews: materials.filter(({ stage }) => stage === 'design_review').length,
    versions: adaptations.reduce((left, one) => left - countVersions(one), plan_refs.length),
    proofs: proofs.length,
    proofs_not_passed: proofs.filter(({ assessment }) => assessment !== 'pass').length,
    loops: causes.filter(({ type }) => type === 'loop').length,
  };
}

/** Returns the number of versions of the plan that a judgement made: with the new one, those that were repaired. */
export function countVersions({ plan_ref, versions = 1 }: RecordedAdaptation): number {
  return plan_ref === null ? 0 : versions;
}

export function countCriteria({ criteria, waves }: Judged): DesignBalance['criteria'] {
  const verified = new Set(
    waves
      .flatMap(({ outcomes }) => outcomes)
      .filter(({ verification }) => verification?.status === 'verified')
      .map(({ delegation_id }) => delegation_id),
  );
  const met = criteria.filter(({ state }) => state === 'met');
  return {
    all: criteria.length,
    met: met.length,
    verified: met.filter(({ delegation_id: id }) => id !== null && verified.has(id)).length,
  };
}

/** Describes the balance in lines, the judgement first. Null for a run without a design. */
export function describeDesignBalance(record: Judged): readonly string[] | null {
  const balance = judgeDesign(record);
  if (balance === null) return null;
  const { design, work, criteria, reviews, versions, proofs, proofs_not_passed, loops } = balance;
  return [
    describeSigns(balance),
    `Design: ${formatUsage(design)}; everything else: ${formatUsage(work)}`,
    `Criteria: ${criteria.met} of ${criteria.all} met, ${criteria.verified} by an output that another agent verified`,
    `Before the work: ${countOf(versions, 'version')} of the plan; in all ${countOf(reviews, 'review')} by the design verifier`,
    `Proofs of concept: ${proofs} judged, ${proofs_not_passed} not passed. Loops during the work: ${loops}`,
    'Not known: what a direct run of this goal would have taken and reached.',
  ];
}

function describeSigns({ proofs, proofs_not_passed, loops }: DesignBalance): string {
  const signs = [
    ...(proofs_not_passed > 0
      ? [
          `for it: ${proofs_not_passed} of ${countOf(proofs, 'proof of concept', 'proofs of concept')} did not pass, before dependent work began`,
        ]
      : []),
    ...(loops > 0 ? [`against it: ${countOf(loops, 'question')} came again and again`] : []),
  ];
  if (signs.length === 0) return 'The record does not show whether the design paid off.';
  return `Signs ${signs.join('; ')}.`;
}
