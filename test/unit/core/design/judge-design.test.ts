import type { Adaptation, AdaptationCause } from '../../../../contracts/adaptation.ts';
import type { RecordedDesign } from '../../../../contracts/design-run.ts';
import type { VerificationOutcome } from '../../../../contracts/verification.ts';
import { renderAdaptations } from '../../../../activities/projection/render-design.ts';
import { describeDesignBalance, judgeDesign } from '../../../../core/design/judge-design.ts';
import { addUsage } from '../../../../core/usage/add-usage.ts';
import { someRef, usageOf } from '../../../support/factories.ts';

function adaptation(cause: AdaptationCause, plan_ref: string | null = null): Adaptation {
  return { wave: 1, cause, plan_ref, changed_tasks: [], approved_by: null };
}

const failed = {
  type: 'proof_of_concept',
  task_id: 'a',
  assessment: 'fail',
  decision: 'adapt',
} as const;
const passed = { ...failed, assessment: 'pass', decision: 'proceed' } as const;
const loop = { type: 'loop', task_id: 'b', root_cause: 'planning_gap' } as const;

function designOf(...adaptations: readonly Adaptation[]): RecordedDesign {
  return {
    status: 'approved',
    materials: [
      { stage: 'interview', subject: null, ref: someRef },
      { stage: 'design_review', subject: null, ref: someRef },
    ],
    plan_refs: ['v1', 'v2'],
    plan_agents: [],
    findings: [],
    approved_by: null,
    usage: usageOf(12),
    adaptations,
  };
}

function outcomeOf(delegation_id: string, status: VerificationOutcome['status']) {
  const verification = {
    verified_by: 'tester',
    status,
    attempts: 1,
    results_refs: [],
    output_ref: null,
  };
  return { delegation_id, verification };
}

function runOf(design?: RecordedDesign) {
  return {
    ...(design === undefined ? {} : { design }),
    usage: usageOf(30),
    criteria: [
      { state: 'met', delegation_id: 'one' },
      { state: 'met', delegation_id: 'two' },
      { state: 'met', delegation_id: null },
      { state: 'open', delegation_id: 'one' },
    ] as const,
    waves: [{ outcomes: [outcomeOf('one', 'verified'), outcomeOf('two', 'unverified')] }],
  };
}

describe('the balance of a design', () => {
  it('DB1: design and work add up to the run', () => {
    const run = runOf(designOf());
    const balance = judgeDesign(run);
    expect(balance?.work).toEqual(usageOf(18));
    expect(addUsage(balance?.design ?? usageOf(0), balance?.work ?? usageOf(0))).toEqual(run.usage);
  });

  it('counts what another agent verified, and the versions before the work', () => {
    const design = designOf(adaptation(failed, 'v2'), adaptation(passed), adaptation(loop));
    expect(judgeDesign(runOf(design))).toMatchObject({
      criteria: { all: 4, met: 3, verified: 1 },
      reviews: 1,
      versions: 1,
      proofs: 2,
      proofs_not_passed: 1,
      loops: 1,
    });
  });

  it('counts no version of a change as one before the work, however often it was repaired', () => {
    const repaired = { ...adaptation(failed, 'v4'), versions: 2 };
    const design = { ...designOf(repaired), plan_refs: ['v1', 'v2', 'v3', 'v4', 'v5'] };
    const run = runOf({ ...design, adaptations: [repaired, adaptation(loop, 'v5')] });
    expect(judgeDesign(run)).toMatchObject({ versions: 2 });
    const text = renderAdaptations({ ...run, run_id: 'my-run' });
    expect(text).toContain('`planwave plan diff my-run@2 my-run@4`');
    expect(text).toContain('`planwave plan diff my-run@4 my-run@5`');
  });

  it('DB2: says so where the record shows no sign, and names signs for and against', () => {
    expect(describeDesignBalance(runOf(designOf(adaptation(passed))))?.[0]).toBe(
      'The record does not show whether the design paid off.',
    );
    const lines = describeDesignBalance(runOf(designOf(adaptation(failed), adaptation(loop))));
    expect(lines?.[0]).toBe(
      'Signs for it: 1 of 1 proof of concept did not pass, before dependent work began; against it: 1 question came again and again.',
    );
    expect(lines?.at(-1)).toMatch(/^Not known: /);
  });

  it('is null for a run without a design', () => {
    expect(judgeDesign(runOf())).toBeNull();
    expect(describeDesignBalance(runOf())).toBeNull();
  });
});
