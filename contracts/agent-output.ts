import { z } from 'zod';
import type { OutputFault } from './output-fault.ts';
import { AskedQuestion } from './question.ts';
import type { Ref } from './ref.ts';

/** A fact stated by an agent or the planner. Its key determines which other facts it can contradict. */
export const StatedFact = z.strictObject({
  key: z
    .string()
    .min(1)
    .max(80)
    .describe('What it is about, with its subject: "hosting price per month of Hetzner".'),
  value: z.string().min(1).max(200).describe('The value alone, with its unit: "49 EUR".'),
  statement: z.string().min(1).max(500).describe('A sentence that stands alone.'),
  confidence: z.enum(['low', 'medium', 'high']),
  settled_by: z.string().max(200).optional().describe('What shows that a former assumption holds.'),
});
export type StatedFact = z.infer<typeof StatedFact>;

/** A statement in the run's pool (seed 004 §9). The pool is append-only: only `superseded_by` changes. */
export interface Fact {
  /** `f1`, `f2`, … in the order of recording. */
  readonly fact_id: string;
  /** Normalised: facts with one key and different values contradict each other. Null for a statement in words only. */
  readonly key: string | null;
  /** The value as stated. Null exactly when `key` is. */
  readonly value: string | null;
  readonly statement: string;
  /**
   * Sources of the fact, its author first: `wave-001/<delegation_id>`, `turn-<n>` and the artifact of the output;
   * `wave-001/planner_decision` and its artifact; `q3` for an answer, and `amended-<time>` when it was changed; `user`
   * for an instruction, and `instruction-<number>` where it states a key. The last one is `settled_by`, if it was
   * given.
   */
  readonly source_refs: readonly string[];
  readonly confidence: 'low' | 'medium' | 'high';
  readonly is_assumption: boolean;
  readonly origin: 'agent' | 'user' | 'planner';
  /** The fact that holds instead, or the decision that retracted it. If null, the fact stands. */
  readonly superseded_by: string | null;
  /** Unix epoch seconds. */
  readonly recorded_at: number;
}

/** A fact on its way into the pool. Its key is not normalised yet. */
export type ProposedFact = Omit<Fact, 'fact_id' | 'superseded_by' | 'recorded_at'> &
  Pick<StatedFact, 'settled_by'>;

/** A fact that the user states with an instruction: its key as typed, and its value. */
export interface UserFact {
  readonly key: string;
  readonly value: string;
}

const AgentStatus = z.enum(['completed', 'blocked', 'failed']);
type AgentStatus = z.infer<typeof AgentStatus>;

/** A place that code looks up. */
export const EvidencePlace = z.strictObject({
  kind: z.enum(['heading', 'quote', 'file', 'tool', 'answer', 'input', 'unchanged']),
  value: z.string().min(1).max(300),
});
export type EvidencePlace = z.infer<typeof EvidencePlace>;

export const Coverage = z.strictObject({
  criteria_met: z
    .array(
      z.strictObject({
        criterion_id: z.string(),
        evidence: z.string().max(1_000),
        where: EvidencePlace,
      }),
    )
    .max(20),
  criteria_unmet: z
    .array(z.strictObject({ criterion_id: z.string(), reason: z.string().max(1_000) }))
    .max(20),
});
export type Coverage = z.infer<typeof Coverage>;

/**
 * Answer of an agent at the end of its work (seed 004 §5). A model writes the fields in this order: first the work,
 * then what follows from it. The rules in `activities/prompts/common-rules.ts` explain them.
 */
export const AgentOutput = z.strictObject({
  detailed_md: z.string().min(1),
  compact_md: z.string().min(1),
  status: AgentStatus,
  blocking_questions: z.array(AskedQuestion).max(10),
  optional_questions: z.array(AskedQuestion).max(10),
  missing_info_requests: z
    .array(z.strictObject({ input: z.string().max(200), why: z.string().max(1_000) }))
    .max(20),
  assumptions_made: z
    .array(
      z.strictObject({
        statement: z.string().min(1).max(1_000),
        confidence: z.enum(['low', 'medium', 'high']),
      }),
    )
    .max(20),
  facts: z.array(StatedFact).max(20).describe('Each key once.'),
  effects_claimed: z.array(z.string().min(1).max(200)).max(50),
  coverage: Coverage,
});
export type AgentOutput = z.infer<typeof AgentOutput>;

/**
 * An AgentOutput whose author may pass texts on instead of retyping them: the leader of a team, or the member of a
 * triad that writes its output. The store holds the resulting AgentOutput.
 */
export const PassingOutput = z.strictObject({
  ...AgentOutput.shape,
  detailed_md: z
    .string()
    .describe(
      'The whole result in Markdown, for whoever needs it. With detailed_from only what is to stand before it; may be "" then.',
    ),
  detailed_from: z
    .array(z.string().min(1).max(164))
    .max(20)
    .optional()
    .describe(
      'What is added to detailed_md word for word, so that nobody retypes it. Leader: names of results. Triad: ["sections"], all agreed sections.',
    ),
});
export type PassingOutput = z.infer<typeof PassingOutput>;

/** A text that an output may pass on whole, by one of its names in `detailed_from`. */
export type Passable =
  /** Result of a task: `detailed_md` of its output. */
  | { readonly type: 'result'; readonly names: readonly string[]; readonly output_ref: Ref }
  /** The agreed sections of a triad, in their order. */
  | {
      readonly type: 'sections';
      readonly names: readonly string[];
      readonly sections: readonly {
        readonly section_id: string;
        readonly text_ref: Ref;
        /** Programming language of code, otherwise null. */
        readonly language: string | null;
      }[];
    };

/** Part of an output that the engine's rules need. Texts stay in the store. */
export interface AgentOutputOutline extends Omit<
  AgentOutput,
  'compact_md' | 'detailed_md' | 'facts'
> {
  readonly facts: readonly Pick<StatedFact, 'key' | 'value'>[];
  /** Faults in its texts: evidence that is not where it says, and placeholders. */
  readonly text_faults: readonly OutputFault[];
  /** The whole AgentOutput as JSON. */
  readonly output_ref: Ref;
}
