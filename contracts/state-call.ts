import { z } from 'zod';
import { escalatedCategories, ownCategories } from './note.ts';
import type { NoteCategory } from './note.ts';
import type { OutputFault } from './output-fault.ts';
import type { Ref } from './ref.ts';
import { PhaseSummary } from './spec.ts';
import type { PhaseSummaryOutline, SpecState } from './spec.ts';
import { Slug } from './agent-definition.ts';
import type { TriadPhase, TriadMember, TriadType } from './triad.ts';

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

/** A text of another member that the topology lets this one read. */
export interface HeardText {
  readonly member: string;
  readonly round: number;
  readonly said_ref: Ref;
}

/** Records that a member must make before its turn ends. */
export interface Duties {
  /** claim_ids to answer. */
  readonly answer: readonly string[];
  /** section_ids to register a claim on. For an orchestrator: before it ends the phase. */
  readonly claim: readonly string[];
  /** Least number of claims, on any sections. */
  readonly claims_min: number;
  /** Orchestrator: it has to give a turn, because work is left and no member is working. */
  readonly assign: boolean;
  /** Critic: section_ids whose proposal or text it has not judged yet. No record is owed for them. */
  readonly check: readonly string[];
  /** section_ids to be `done`. */
  readonly finish: readonly string[];
  /** True for the member that writes the summary of the phase, as soon as no claim is open or no round is left. */
  readonly summary: boolean;
  /** True for the member that gives the output of the whole delegation: its turn ends with an agent output. */
  readonly output: boolean;
}

/** Complete input of one turn of one member. */
export interface TurnBrief {
  readonly type: TriadType;
  readonly phase: TriadPhase;
  readonly member: TriadMember;
  /** Names and roles of all three, in the order of the plan. */
  readonly team: readonly Pick<TriadMember, 'name' | 'role'>[];
  /**
   * Round of the phase, from 1. For an orchestrator, the round that it may open: beyond `rounds_max` when none is left.
   */
  readonly round: number;
  readonly rounds_max: number;
  /** Summary of the phase before; null in the first. */
  readonly summary_ref: Ref | null;
  /** Names of the other members at work. */
  readonly at_work: readonly string[];
  /** Instruction of the orchestrator of a hierarchical triad; null in the others. */
  readonly instruction_ref: Ref | null;
  /** Texts of the others that it may read since its last turn, oldest first. */
  readonly heard: readonly HeardText[];
  /** Its outdated edits and answers. For an orchestrator, those of its workers too. */
  readonly returned: readonly ReturnedRecord[];
  /** The spec at the start of its turn. In a blind round it holds no record of the others' turns. */
  readonly spec: SpecState;
  readonly duties: Duties;
  /** State tools that its role has in this phase. */
  readonly tools: readonly StateToolName[];
}

/** A record that was based on an outdated version, with the present one. */
export interface ReturnedRecord {
  readonly reason: string;
  /** The present text; null when there is none to show. */
  readonly current_ref: Ref | null;
}
