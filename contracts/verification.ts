import { z } from 'zod';
import type { Ref } from './ref.ts';
import { Slug } from './agent-definition.ts';
import { TriadPlan } from './triad.ts';
import type { DissentPlace, TriadOutcome } from './triad-run.ts';

const path = z.string().min(1).max(200).describe('Relative path below the workspace.');

/** Check of evidence that code makes before an agent judges anything. */
export const EvidenceCheck = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('command'),
    argv: z.array(z.string().min(1).max(1_000)).min(1).max(50),
    exit_code: z.int().min(0).max(255).describe('The exit code that counts as success.'),
  }),
  /** The file exists, and has the hash if one is given. */
  z.strictObject({
    kind: z.literal('file'),
    path,
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable(),
  }),
  /** The file is JSON that fits the JSON Schema. */
  z.strictObject({
    kind: z.literal('schema'),
    path,
    schema: z.record(z.string(), z.unknown()),
  }),
  /** The files are as they were when the run began: "these tests are unchanged". */
  z.strictObject({ kind: z.literal('unchanged'), paths: z.array(path).min(1).max(50) }),
]);
export type EvidenceCheck = z.infer<typeof EvidenceCheck>;

/** Triad that judges an output: its spec has one section, the judgement. */
export const VerifierTriad = TriadPlan.omit({ sections: true });
export type VerifierTriad = z.infer<typeof VerifierTriad>;

/** Demand that a delegation's output be verified before it counts. */
export const VerificationOrder = z.strictObject({
  verified_by: Slug.describe(
    'agent_id of the verifier. Never the author. With triad: the agent of the member that writes.',
  ),
  triad: VerifierTriad.optional().describe(
    'Three members, none of them an author, who judge the output together before verified_by gives the verdict.',
  ),
  checks: z
    .array(
      z.strictObject({
        criterion_id: Slug.describe('The criterion that the check belongs to.'),
        check: EvidenceCheck,
      }),
    )
    .max(20),
});
export type VerificationOrder = z.infer<typeof VerificationOrder>;

/** File `verification_results.json`, which exists only while a verification has failed (seed 003, "Verification Workflow"). */
export const VerificationResults = z.strictObject({
  task_id: z.string().min(1),
  /** Unix epoch seconds. */
  timestamp: z.int(),
  result: z.enum(['pass', 'fail']),
  missing_evidence: z.array(z.string().min(1).max(2_000)).max(50),
});
export type VerificationResults = z.infer<typeof VerificationResults>;

/** Reply of a verifier: its judgement on the output of another agent. */
export const Verdict = z.strictObject({
  verdict: z.enum(['pass', 'fail']),
  missing_evidence: z
    .array(z.string().min(1).max(2_000))
    .max(50)
    .describe('What its author must still show or mend, one entry each. Empty with "pass".'),
  reviewed_notes: z
    .array(
      z.strictObject({
        note_id: z.string().min(1).max(80),
        accepted: z.boolean(),
        comment: z.string().max(1_000),
      }),
    )
    .max(50)
    .describe('One for each note of the author.'),
});
export type Verdict = z.infer<typeof Verdict>;

/** Returns the notes that a verifier does not accept. */
export function refusedOf(reviewed: Verdict['reviewed_notes']): Verdict['reviewed_notes'] {
  return reviewed.filter(({ accepted }) => !accepted);
}

interface VerdictOutline {
  readonly verdict: Verdict['verdict'];
  /** Entries of `missing_evidence`. */
  readonly missing: number;
  /** note_ids that it judged. */
  readonly reviewed_notes: readonly string[];
  /** Notes that are not accepted. Absent when there are none. */
  readonly refused_notes?: readonly string[];
  /** The whole Verdict as JSON. */
  readonly verdict_ref: Ref;
}

/** Result of one evidence check. `not_run`: code could not make it, so the verifier judges. */
export const CheckResult = z.strictObject({
  criterion_id: z.string(),
  check: z.string(),
  result: z.enum(['passed', 'failed', 'not_run']),
  found: z.string(),
});
export type CheckResult = z.infer<typeof CheckResult>;

/** Evidence that code gathered of a delegation's work. */
export const EvidenceReport = z.strictObject({
  checks: z.array(CheckResult),
  /** Changes of files as a patch, cut; empty without any. */
  diff: z.string(),
});
export type EvidenceReport = z.infer<typeof EvidenceReport>;

/** Command that an author ran, as the engine saw it. */
export interface SeenCommand {
  /** The command as people read it. */
  readonly command: string;
  /** Null when it was killed at a limit. */
  readonly exit_code: number | null;
  /** Its result, as the author got it. */
  readonly result_ref: Ref;
  /** True when the author changed a file by a tool afterwards. */
  readonly files_changed_after: boolean;
}

export interface GatherEvidenceInput {
  readonly run_id: string;
  readonly delegation_id: string;
  readonly plan_ref: Ref;
  readonly record_ref: Ref;
  /** Defined in RunToolInput. */
  readonly builds_on: readonly string[];
  /** Commit of the delegation's files before its checks; null when no check can change them. */
  readonly kept: string | null;
}

export interface GatherEvidenceResult {
  /** The EvidenceReport as JSON. */
  readonly evidence_ref: Ref;
  readonly failed: number;
}

export interface OrderJudgementInput
  extends
    Omit<GatherEvidenceInput, 'kept' | 'builds_on'>,
    Pick<VerificationFeedback, 'instructions_ref' | 'guidance_refs'> {
  /** delegation_id of the judgement: a task of the delegation, as in `taskId`. */
  readonly judgement_id: string;
  /** The AgentOutput that is judged. */
  readonly output_ref: Ref;
  /** The EvidenceReport as JSON. */
  readonly evidence_ref: Ref;
  readonly commands: readonly SeenCommand[];
  /** Notes of the author; null without any. */
  readonly notes_ref: Ref | null;
  /** Triad that the engine added. Absent: the plan names it. */
  readonly added?: Pick<VerificationOrder, 'verified_by' | 'triad'>;
}

/** The judgement of a triad on an output: which triad, and by which plan. */
export interface TriadJudgement {
  /** delegation_id of the judgement. */
  readonly delegation_id: string;
  readonly plan_ref: Ref;
  readonly executor: { readonly kind: 'triad'; readonly work: TriadOutcome };
}

export interface RecordVerificationInput {
  readonly run_id: string;
  readonly delegation_id: string;
  readonly agent_id: string;
  readonly record_ref: Ref;
  readonly evidence_ref: Ref;
  /** Null when a check failed, or when the verifier gave no verdict. */
  readonly verdict_ref: Ref | null;
  /** Reason why there is no verdict; empty for a failed check. */
  readonly failure: string;
  /** Unix epoch seconds. */
  readonly now: number;
}

export interface RecordVerificationResult {
  /** The VerificationResults as JSON. */
  readonly results_ref: Ref;
  readonly result: VerificationResults['result'];
}

export interface DescribeFailuresInput {
  readonly plan_ref: Ref;
  readonly delegation_id: string;
  readonly verified_by: string;
  /** Defined in VerificationFeedback. */
  readonly instructions_ref: Ref | null;
  readonly results_refs: readonly Ref[];
  /** The AgentOutput that failed last. Absent where its doer gave none. */
  readonly output_ref?: Ref;
  /** True for a task whose newest attempt gave no output to verify. Absent for an output that failed. */
  readonly gave_up?: true;
}

/** Results, output and words of the user that a doer reads when it begins anew. */
export interface VerificationFeedback {
  /** The newest VerificationResults as JSON. */
  readonly results_ref: Ref;
  /** The AgentOutput that failed last; null before the first. */
  readonly output_ref: Ref | null;
  /** True where the newest attempt gave no output to verify: `results_ref` has its reason. Absent otherwise. */
  readonly gave_up?: true;
  /** The VerificationResults of `output_ref` where `gave_up`. Absent otherwise. */
  readonly failed_results_ref?: Ref;
  /** The user's new instructions, which replace the task's; null while there are none. */
  readonly instructions_ref: Ref | null;
  /** The user's guidance, oldest first. */
  readonly guidance_refs: readonly Ref[];
  /** End of the triad or team that made the first attempt. Absent for an agent. */
  readonly executor_end?: DissentPlace;
}

export interface VerificationActivities {
  /** Keeps a delegation's files before commands check them. `kept` is null where it has no copy of the workspace. */
  readonly keepWork: (
    input: Omit<GatherEvidenceInput, 'kept'>,
  ) => Promise<Pick<GatherEvidenceInput, 'kept'>>;
  /** Makes the checks of a delegation's evidence, and reads the changes of its files. */
  readonly gatherEvidence: (input: GatherEvidenceInput) => Promise<GatherEvidenceResult>;
  /** Stores the results of a verification. `verification_results.json` shows them while they are a failure. */
  readonly recordVerification: (
    input: RecordVerificationInput,
  ) => Promise<RecordVerificationResult>;
  /** Words the question after too many failures: task, instructions and feedback. */
  readonly describeFailures: (input: DescribeFailuresInput) => Promise<{ readonly text: string }>;
}

export interface VerificationOutcome {
  /** agent_id of the verifier. */
  readonly verified_by: string;
  /** `abandoned`: the user gave the task up after five failures. `unverified`: the verification did not come to an end. */
  readonly status: 'verified' | 'abandoned' | 'unverified';
  /** Verifications so far, the last one included. */
  readonly attempts: number;
  /** VerificationResults of each attempt, oldest first, as JSON. */
  readonly results_refs: readonly Ref[];
  /** Hash of the verified output: consumers of another version are stale. Null unless verified. */
  readonly output_ref: Ref | null;
  /** Judgement of the triad that verified last. Absent where none did. */
  readonly judgement?: TriadJudgement;
  /** Those before it, oldest first, each with the last attempt at each phase. Absent where there is none. */
  readonly earlier_judgements?: readonly EarlierJudgement[];
}

/** Judgement of a triad on an output that was replaced: what its pages are made of. */
export interface EarlierJudgement extends Pick<TriadJudgement, 'delegation_id' | 'plan_ref'> {
  readonly phases: readonly Pick<TriadOutcome['phases'][number], 'phase' | 'report_ref'>[];
}

/** Judgements of agents on what others have made. */
export type JudgementOutline =
  | { readonly shape: 'verification'; readonly verdict: VerdictOutline }
  /** A grade by a rubric. `reason`: at most 300 characters. */
  | { readonly shape: 'grading'; readonly score: number; readonly reason: string };
