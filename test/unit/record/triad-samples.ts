import type { Delegation } from '../../../contracts/delegation.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import { findDissent } from '../../../core/spec/read-spec.ts';
import { answers, claims, dialectic, specAfter } from '../core/triad-builders.ts';
import type { Harness } from './harness.ts';
import { delegation, met, outcome, output, usage } from './samples.ts';
import type { TriadPhase, TriadPlan } from '../../../contracts/triad.ts';
import type { PhaseSummary } from '../../../contracts/spec.ts';
import type { PhaseReport, TriadOutcome } from '../../../contracts/triad-run.ts';

/** A dialectic triad whose spec has a section with a text of its own. */
export const offerTriad: TriadPlan = {
  type: 'dialectic',
  reason: 'Prices are\ndisputed.',
  members: [...dialectic],
  sections: [
    { section_id: 'prices', text: 'What each way costs.' },
    { section_id: 'risks', text: 'What can go wrong.' },
  ],
};

/** A delegation that it does. */
export const offer: Delegation = delegation('offer', {
  agent_id: 'writer',
  executor: { kind: 'triad', ...offerTriad },
});

export interface Told {
  /** Proposal of anna for the prices. */
  readonly proposal?: string;
  /** Why ben holds against it. */
  readonly reason?: string;
  readonly said?: string;
  readonly sectionText?: string;
  /** Whether ben agrees after all. Default: never, so that the prices stay disputed. */
  readonly agrees?: boolean;
}

/** A report of a phase of `offer`: ben holds against anna's claim on the prices, and everybody agrees on the risks. */
export async function reportOf(
  { deps }: Harness,
  phase: TriadPhase,
  told: Told = {},
  over: Partial<PhaseReport> = {},
): Promise<PhaseReport> {
  const put = (text: string): Promise<string> => deps.store.put(text);
  const [prices, risks, why, fine, said, text] = await Promise.all([
    put(told.proposal ?? '# Prices\n\nOnly the list prices.'),
    put('The usual risks.'),
    put(told.reason ?? 'Nobody pays list prices.'),
    put('It is complete.'),
    put(told.said ?? 'I looked at both.'),
    put(told.sectionText ?? '# Risks\n\nFire and water.'),
  ]);
  const spec = specAfter(
    ['prices', 'risks'],
    [
      claims('anna', 'prices', prices),
      claims('carl', 'risks', risks),
      answers('ben', 'prices.anna', told.agrees === true ? 'CONCEDE' : 'HOLD', why),
      answers('carl', 'prices.anna', 'CONCEDE', fine),
      answers('anna', 'risks.carl', 'CONCEDE', fine),
      answers('ben', 'risks.carl', 'CONCEDE', fine),
      { type: 'round_over' },
      { type: 'close' },
      {
        type: 'edit',
        member: 'carl',
        section_id: 'risks',
        base_version: 1,
        status: 'done',
        text_ref: text,
        language: null,
      },
    ],
  );
  return {
    version: 1,
    type: 'dialectic',
    reason: offerTriad.reason,
    members: dialectic,
    phase,
    attempt: 1,
    status: 'done',
    rounds: 1,
    rounds_max: 3,
    spec,
    turns: [
      { turn: 1, member: 'anna', round: 1, said_ref: said },
      { turn: 2, member: 'ben', round: 1, said_ref: null },
    ],
    summary_ref: null,
    output_ref: null,
    failure: null,
    usage: usage(9),
    ...over,
  };
}

export const summary: PhaseSummary = {
  decisions: [{ section_id: 'risks', decision: 'Carl writes it,\nfor he knows it.' }],
  open_questions: [{ section_id: 'prices', question: 'Which prices?' }],
  artifacts: [],
};

export const offerOutput = output({
  compact_md: 'The offer, in short.',
  detailed_md: '# The offer\n\nAt length.\n',
  coverage: met('offer-1'),
});

/** The outcome of `offer`, as a delegation tells it. @param id Of the delegation. Default: `offer`. */
export async function offerOutcome(
  harness: Harness,
  planRef: string,
  reports: readonly PhaseReport[],
  over: Partial<DelegationOutcome> = {},
  id: string = offer.delegation_id,
): Promise<DelegationOutcome> {
  const phases: TriadOutcome['phases'][number][] = [];
  let outputRef: string | null = null;
  for (const report of reports) {
    const { report_ref, output_ref } = await harness.recordPhase({
      run_id: 'my-run',
      delegation_id: id,
      plan_ref: planRef,
      report,
    });
    outputRef = output_ref;
    const { phase, attempt, status, rounds } = report;
    phases.push({ phase, attempt, status, rounds, report_ref });
  }
  const last = reports.at(-1);
  return outcome(harness, offer, offerOutput, {
    output_ref: outputRef,
    usage: usage(27),
    executor: {
      kind: 'triad',
      work: {
        type: 'dialectic',
        reason: offerTriad.reason,
        members: dialectic,
        phases,
        dissent: last === undefined ? [] : findDissent(last.spec),
        failure: last?.failure ?? null,
      },
    },
    ...over,
  });
}
