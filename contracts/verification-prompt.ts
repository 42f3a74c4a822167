import type { UpstreamOutput } from './delegation-run.ts';
import type { GradingPrompt } from './evaluation.ts';
import type { WrittenFile } from './effect.ts';
import type { Ref } from './ref.ts';

/** First message to a verifier: the work of another agent, and nothing of how it came about. */
export interface VerificationPrompt {
  readonly kind: 'verification';
  readonly record_ref: Ref;
  readonly plan_ref: Ref;
  readonly delegation_id: string;
  readonly upstream: readonly UpstreamOutput[];
  readonly output_ref: Ref;
  /** Defined in DelegationOutcome. */
  readonly files: readonly WrittenFile[];
  /** The EvidenceReport as JSON. */
  readonly evidence_ref: Ref;
  /** The CompletionSession as JSON; null without notes. */
  readonly notes_ref: Ref | null;
  /** Both defined in VerificationFeedback. */
  readonly instructions_ref: Ref | null;
  readonly guidance_refs: readonly Ref[];
}

/** First messages to agents that judge what others have made. */
export type JudgingPrompt = VerificationPrompt | GradingPrompt;
