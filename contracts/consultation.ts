import { z } from 'zod';
import type { DesignExplanation, DesignMaterial } from './design.ts';
import type { Ref } from './ref.ts';
import type { Usage } from './usage.ts';

/** Agents of a design that the user can question. */
export const consultedRoles = ['designer', 'verifier', 'risk'] as const;
export type ConsultedRole = (typeof consultedRoles)[number];

/** Most characters of a question, with what was said before it. */
export const questionCharsMax = 12_000;

/** Typed input of a consultation: `{"run_id":"my-run","role":"designer","question":"Why two databases?"}`. */
export const ConsultationInput = z.strictObject({
  run_id: z.string().min(1).max(200),
  role: z.enum(consultedRoles),
  question: z.string().trim().min(1).max(questionCharsMax),
  /** Store of the run, as the server knows it: workers with another one refuse the work. If undefined, every store will do. */
  store: z.object({ id: z.string(), place: z.string() }).optional(),
});
export type ConsultationInput = z.infer<typeof ConsultationInput>;

/** Recorded context from which the agent answers. */
export interface ConsultedContext {
  readonly input: ConsultationInput;
  readonly agent_id: string;
  readonly record_ref: Ref;
  readonly registry_ref: Ref;
  readonly materials: readonly DesignMaterial[];
  /** Null before the plan is assembled. */
  readonly plan_ref: Ref | null;
}

export type OpenConsultationResult =
  | { readonly type: 'open'; readonly context: ConsultedContext }
  | { readonly type: 'refused'; readonly reason: string };

export interface ConsultationResult extends DesignExplanation {
  readonly agent_id: string;
  /** Use of the answer. It is not part of the run's. */
  readonly usage: Usage;
}
