import { z } from 'zod';
import type { Ref } from './ref.ts';
import { Slug } from './slug.ts';

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

/** Demand that a delegation's output be verified before it counts. */
export const VerificationOrder = z.strictObject({
  verified_by: Slug.describe('agent_id of the verifier. Never the author.'),
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

/** Verification of a delegation, in its outcome. */
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
}
