import { z } from 'zod';
import { escalatedCategories, ownCategories } from './note.ts';
import type { NoteCategory } from './note.ts';
import type { OutputFault } from './output-fault.ts';
import type { Ref } from './ref.ts';
import { Slug } from './slug.ts';
import { PhaseSummary } from './spec.ts';
import type { PhaseSummaryOutline } from './spec.ts';

/**
 * Tools whose calls are decided inside the workflow, from the state of the triad (seed 001), of the team (seed 002) or of the
 * agent's notes (seed 003).
 * The spec itself is never a parameter. Strict: an unknown field is a fault.
 */
const sectionId = z.string().min(1).max(40).describe('A section_id of <spec>.');
const claimId = z.string().min(1).max(100).describe('A claim_id of <claims>.');
const member = z.string().min(1).max(40).describe('The name of a member.');

export const stateToolInputs = {
  register_claim: z.strictObject({
    section_id: sectionId,
    proposal: z
      .string()
      .min(1)
      .max(20_000)
      .describe('The whole text of the section in Markdown; with write_later, what it is to be.'),
    write_later: z
      .boolean()
      .nullable()
      .optional()
      .describe(
        'true: the proposal is a plan, and you write the section in execute. Default false.',
      ),
    for_member: member.nullable().optional().describe('Orchestrator only: the worker it is for.'),
  }),
  negotiate_response: z
    .strictObject({
      claim_id: claimId,
      decision: z.enum(['CONCEDE', 'REVISE', 'HOLD']),
      reason: z
        .string()
        .trim()
        .min(1)
        .max(2_000)
        .describe('Why. For the record and for the others.'),
      revised_proposal: z
        .string()
        .min(1)
        .max(20_000)
        .nullable()
        .optional()
        .describe('With REVISE: the whole proposal as you would agree to it. Else left out.'),
    })
    .refine(
      (input) => (input.decision === 'REVISE') === (typeof input.revised_proposal === 'string'),
      {
        path: ['revised_proposal'],
        message:
          'REVISE needs a revised_proposal, CONCEDE and HOLD take none. Try: give the whole proposal with your change, or another decision.',
      },
    ),
  edit_section: z.strictObject({
    section_id: sectionId,
    base_version: z.number().int().min(1).describe('The version of the text that you changed.'),
    text: z.string().min(1).max(200_000).describe('The whole new text of the section.'),
    status: z.enum(['in_progress', 'done']).describe('"done": this is the output of the section.'),
  }),
  generate_code: z.strictObject({
    section_id: sectionId,
    language: z.string().min(1).max(40).describe('"typescript", "sql" …'),
    instructions: z
      .string()
      .min(1)
      .max(20_000)
      .describe('All that has to be known besides the section and its settled proposal.'),
  }),
  get_current_claims: z.strictObject({
    section_id: sectionId.nullable().optional().describe('Left out: the claims on all sections.'),
  }),
  get_negotiation_state: z.strictObject({ claim_id: claimId }),
  assign_turn: z.strictObject({
    member,
    instruction: z
      .string()
      .min(1)
      .max(20_000)
      .describe('What it is to do now. It sees this and not your history.'),
  }),
  open_negotiation: z.strictObject({
    section_id: sectionId,
    reason: z.string().min(1).max(2_000).describe('What contradicts what.'),
  }),
  submit_summary: PhaseSummary,
  delegate_task_to_member: z.strictObject({
    member_id: z
      .string()
      .min(1)
      .max(120)
      .describe(
        'The id of a member; or a capability: then the member with the highest priority that has it.',
      ),
    task: z
      .string()
      .trim()
      .min(1)
      .max(20_000)
      .describe(
        'All that the member needs to know: it sees this, its inputs, and nothing of yours.',
      ),
    name: Slug.nullable()
      .optional()
      .describe('What you call the result: others name it in inputs. Default: d1, d2, …'),
    inputs: z
      .array(z.string().min(1).max(164))
      .max(20)
      .nullable()
      .optional()
      .describe('Names of results that the member is given, also of calls in the same reply.'),
  }),
  completion_note: z.strictObject({
    notes: z
      .array(
        z.strictObject({
          action: z.enum(['create', 'resolve', 'escalate', 'reopen']),
          note_id: z
            .string()
            .max(20)
            .nullable()
            .optional()
            .describe('The note; left out for a new one.'),
          category: z
            .enum([...escalatedCategories, ...ownCategories])
            .nullable()
            .optional(),
          description: z
            .string()
            .max(500)
            .nullable()
            .optional()
            .describe('New note: the assumption or uncertainty; if you escalate it, the question.'),
          context: z.string().max(300).nullable().optional().describe('New note: your work then.'),
          text: z
            .string()
            .max(500)
            .nullable()
            .optional()
            .describe('resolve: how, with evidence. escalate: why it blocks.'),
        }),
      )
      .min(1)
      .max(20),
  }),
} as const satisfies Record<string, z.ZodType>;

export type StateToolName = keyof typeof stateToolInputs;

/** A call in the workflow: small arguments in place, texts by reference. */
export type StateCall = TriadCall | TeamCall | NoteCall;

/** An agent's call that keeps its completion-drive notes (seed 003). */
export interface NoteCall {
  readonly tool: 'completion_note';
  readonly entries: readonly NoteEntry[];
}

/** One change of the notes. Without `note_id` it makes a note first. */
export interface NoteEntry {
  readonly action: 'create' | 'resolve' | 'escalate' | 'reopen';
  readonly note_id: string | null;
  readonly category: NoteCategory | null;
  readonly description: string;
  readonly context: string;
  readonly text: string;
}

/** A leader's call that creates a task (seed 002). */
export interface TeamCall {
  readonly tool: 'delegate_task_to_member';
  /** The leader's text: an id, a capability, or neither. */
  readonly member_id: string;
  readonly name: string | null;
  readonly inputs: readonly string[];
  readonly task_ref: Ref;
  /** One line, for people. */
  readonly title: string;
  /** Hash of the normalised task: equal for two calls that ask for the same. */
  readonly task_hash: string;
  /** Names and member ids of the other calls in the same reply that the task mentions. */
  readonly mentions: readonly string[];
}

export type TriadCall =
  | {
      readonly tool: 'register_claim';
      readonly section_id: string;
      readonly for_member: string | null;
      readonly proposal_ref: Ref;
      /** Defined in Claim. */
      readonly write_later?: true;
    }
  | {
      readonly tool: 'negotiate_response';
      readonly claim_id: string;
      readonly decision: 'CONCEDE' | 'REVISE' | 'HOLD';
      readonly reason_ref: Ref;
      readonly revised_ref: Ref | null;
    }
  | {
      readonly tool: 'edit_section';
      readonly section_id: string;
      readonly base_version: number;
      readonly status: 'in_progress' | 'done';
      readonly text_ref: Ref;
    }
  | {
      readonly tool: 'generate_code';
      readonly section_id: string;
      readonly language: string;
      readonly instructions_ref: Ref;
    }
  | { readonly tool: 'get_current_claims'; readonly section_id: string | null }
  | { readonly tool: 'get_negotiation_state'; readonly claim_id: string }
  | { readonly tool: 'assign_turn'; readonly member: string; readonly instruction_ref: Ref }
  | { readonly tool: 'open_negotiation'; readonly section_id: string; readonly reason_ref: Ref }
  | { readonly tool: 'submit_summary'; readonly summary: PhaseSummaryOutline };

/** `faults`: the arguments do not fit the tool's schema. Nothing was stored. */
export type ReadStateCall =
  | { readonly ok: true; readonly call: StateCall }
  | { readonly ok: false; readonly tool: StateToolName; readonly faults: readonly OutputFault[] };
