/**
 * Decides what follows from the verifications of one delegation.
 *
 * Invariants:
 *   VE1. Only an output that a verifier passed is verified; whatever else happens, none of its criteria is met.
 *   VE2. After each failure the doer begins anew, until `verificationsMax` failures: then the user is asked.
 *   VE3. Modifying and guiding allow as many failures again; abandoning ends the task.
 *   VE4. No attempt forgets what an earlier one used.
 *   VE5. No judgement of a triad forgets the pages of an earlier one.
 *   VE6. The outcome has the work of the triad or team that made the first attempt, also when its writer or leader mended
 *        the output alone. What a leader used for that counts as its own.
 *   VE7. An attempt that its doer gave up counts as no verification; the next one is told the reason, what the user said, and
 *        what failed before.
 */
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { ExecutorOutcome, TeamTerms } from '../../contracts/team-run.ts';
import type { Usage } from '../../contracts/usage.ts';
import type {
  DescribeFailuresInput,
  EarlierJudgement,
  TriadJudgement,
  VerificationFeedback,
  VerificationOutcome,
  VerificationResults,
} from '../../contracts/verification.ts';
import { engineLimits } from '../limits.ts';
import { addUsage, noUsage } from '../usage/add-usage.ts';
import { readEnd } from '../executor.ts';
import { definedOnly } from '../json.ts';
import { newestPhases } from '../triad/end-phase.ts';
import { cutText } from '../text/cut-text.ts';

/** State of a delegation's verification, small enough for history. */
export interface VerificationState {
  /** Verifications that came to a result. */
  readonly attempts: number;
  /** Failures since the user was last asked. */
  readonly failures: number;
  /** Questions to the user so far; they number the next. */
  readonly questions: number;
  readonly results_refs: readonly Ref[];
  /** Output of the newest failure; null before the first. */
  readonly failed_output_ref: Ref | null;
  /** True after an attempt that its doer gave up, until the next result. Absent otherwise. */
  readonly gave_up?: true;
  /** Results for `failed_output_ref`, while `gave_up`. Absent before the first failure. */
  readonly failed_results_ref?: Ref;
  readonly instructions_ref: Ref | null;
  readonly guidance_refs: readonly Ref[];
  /** Use of finished attempts and of verifiers. */
  readonly usage: Usage;
  readonly turns: number;
  readonly loaded_details: readonly string[];
  /** Work of the triad or team that made the first attempt. Absent before its end, and where an agent did. */
  readonly executor?: Exclude<ExecutorOutcome, { readonly kind: 'agent' }>;
  /** Terms of that team. Absent where none did. */
  readonly team?: TeamTerms;
  /** Defined in VerificationOutcome. */
  readonly judgement?: TriadJudgement;
  /** Defined in VerificationOutcome. */
  readonly earlier_judgements?: readonly EarlierJudgement[];
}

export function openVerification(): VerificationState {
  return {
    attempts: 0,
    failures: 0,
    questions: 0,
    results_refs: [],
    failed_output_ref: null,
    instructions_ref: null,
    guidance_refs: [],
    usage: noUsage,
    turns: 0,
    loaded_details: [],
  };
}

/** Adds the use of an attempt of the doer, or of a verifier. */
export function noteUse(
  state: VerificationState,
  use: Pick<DelegationOutcome, 'usage' | 'turns'> &
    Partial<Pick<DelegationOutcome, 'loaded_details'>>,
): VerificationState {
  return {
    ...state,
    usage: addUsage(state.usage, use.usage),
    turns: state.turns + use.turns,
    loaded_details: [...new Set([...state.loaded_details, ...(use.loaded_details ?? [])])].slice(
      0,
      engineLimits.loadedDetailsMax,
    ),
  };
}

/** Adds an attempt of the doer: its use, and the work of a triad or team. */
export function noteAttempt(
  state: VerificationState,
  outcome: DelegationOutcome,
): VerificationState {
  const used = noteUse(state, outcome);
  const executor = state.executor ?? outcome.executor;
  if (executor.kind === 'agent') return used;
  if (state.executor === undefined) return { ...used, executor };
  return { ...used, executor: addRedo(state.executor, outcome) };
}

type Worked = NonNullable<VerificationState['executor']>;

/** Counts the use of a leader that mends the answer alone. */
function addRedo(executor: Worked, { turns, usage }: DelegationOutcome): Worked {
  if (executor.kind !== 'team' || executor.work === null) return executor;
  const { leader } = executor.work;
  const whole = {
    ...leader,
    turns: leader.turns + turns,
    usage: addUsage(leader.usage, usage),
  };
  return { ...executor, work: { ...executor.work, leader: whole } };
}

/** Adds what happened to a team's answer after the team had ended. */
export function noteOnTeam(state: VerificationState, note: string): VerificationState {
  const { executor } = state;
  if (executor?.kind !== 'team' || executor.work === null) return state;
  const { teamNotesMax, teamNoteCharsMax } = engineLimits;
  const all = [...executor.work.notes, cutText(note, teamNoteCharsMax)];
  return {
    ...state,
    executor: { ...executor, work: { ...executor.work, notes: all.slice(0, teamNotesMax) } },
  };
}

export function noteResult(
  { gave_up: _gaveUp, failed_results_ref: _failedResults, ...state }: VerificationState,
  result: VerificationResults['result'],
  {
    judgement,
    ...refs
  }: {
    readonly results_ref: Ref;
    readonly output_ref: Ref;
    readonly judgement?: TriadJudgement;
  },
): VerificationState {
  const isFailed = result === 'fail';
  return {
    ...state,
    attempts: state.attempts + 1,
    failures: isFailed ? state.failures + 1 : 0,
    results_refs: [...state.results_refs, refs.results_ref].slice(-resultsKeptMax),
    failed_output_ref: isFailed ? refs.output_ref : null,
    ...(judgement !== undefined && { judgement, ...keepEarlier(state) }),
  };
}

/** Adds an attempt that its doer gave up. @param results_ref The reason, as VerificationResults. */
export function noteGivenUp(state: VerificationState, results_ref: Ref): VerificationState {
  const results_refs = [...state.results_refs, results_ref].slice(-resultsKeptMax);
  const hasFailed = state.failed_output_ref !== null && state.gave_up === undefined;
  const failed_results_ref = hasFailed ? state.results_refs.at(-1) : state.failed_results_ref;
  return { ...state, results_refs, gave_up: true, ...definedOnly({ failed_results_ref }) };
}

/** Keeps of the judgement so far what its pages are made of. */
function keepEarlier({
  judgement,
  earlier_judgements: earlier = [],
}: VerificationState): Pick<VerificationState, 'earlier_judgements'> {
  if (judgement === undefined) return {};
  const { delegation_id, plan_ref, executor } = judgement;
  const phases = newestPhases(executor.work).map(({ phase, report_ref }) => ({
    phase,
    report_ref,
  }));
  return {
    earlier_judgements: [...earlier, { delegation_id, plan_ref, phases }].slice(-resultsKeptMax),
  };
}

/** References in history: those of four questions. */
const resultsKeptMax = 20;

export function mustAskUser({ failures }: VerificationState): boolean {
  return failures >= engineLimits.verificationsMax;
}

/** Applies the user's choice between modifying and guiding: counting begins anew. */
export function noteAnswer(
  state: VerificationState,
  choice: 'modify' | 'guide',
  text_ref: Ref,
): VerificationState {
  const told =
    choice === 'modify'
      ? { instructions_ref: text_ref, guidance_refs: [] }
      : { guidance_refs: [...state.guidance_refs, text_ref] };
  return { ...state, ...told, failures: 0 };
}

/** Returns what the doer is told; undefined for its first attempt. */
export function feedbackOf(state: VerificationState): VerificationFeedback | undefined {
  const { results_refs, failed_output_ref: output_ref, instructions_ref, guidance_refs } = state;
  const { gave_up, failed_results_ref } = state;
  const results_ref = results_refs.at(-1);
  const hasFailed = output_ref !== null || gave_up === true;
  if (results_ref === undefined || !hasFailed) return undefined;
  const feedback = {
    results_ref,
    output_ref,
    instructions_ref,
    guidance_refs,
    ...definedOnly({ gave_up, failed_results_ref }),
  };
  const executor_end = state.executor === undefined ? null : readEnd(state.executor);
  return executor_end === null ? feedback : { ...feedback, executor_end };
}

/** Returns what the question to the user is made of. */
export function failuresOf({
  instructions_ref,
  results_refs,
  failed_output_ref,
  gave_up,
}: VerificationState): Pick<
  DescribeFailuresInput,
  'instructions_ref' | 'results_refs' | 'output_ref' | 'gave_up'
> {
  return {
    instructions_ref,
    results_refs,
    ...definedOnly({ output_ref: failed_output_ref ?? undefined, gave_up }),
  };
}

/** Combines the last attempt's outcome with its verification. */
export function concludeVerification(
  outcome: DelegationOutcome,
  state: VerificationState,
  end: Pick<VerificationOutcome, 'verified_by' | 'status'> & {
    readonly reason: string;
    /** Status of the outcome of work that is not verified. */
    readonly ended?: DelegationOutcome['status'];
  },
): DelegationOutcome {
  const isVerified = end.status === 'verified' && outcome.status === 'completed';
  const verification: VerificationOutcome = {
    verified_by: end.verified_by,
    status: isVerified ? 'verified' : end.status === 'abandoned' ? 'abandoned' : 'unverified',
    attempts: state.attempts,
    results_refs: state.results_refs,
    output_ref: isVerified ? outcome.output_ref : null,
    ...definedOnly({
      judgement: state.judgement,
      earlier_judgements: state.earlier_judgements,
    }),
  };
  const { usage, turns, loaded_details } = state;
  const executor = state.executor ?? outcome.executor;
  const whole = { ...outcome, executor, usage, turns, loaded_details, verification };
  if (isVerified) return whole;
  return {
    ...whole,
    status: end.ended ?? 'failed',
    reason: end.reason,
    criteria_met: [],
    criteria_unmet: [...outcome.criteria_met, ...outcome.criteria_unmet],
  };
}
