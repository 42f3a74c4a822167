import type { Ref } from './ref.ts';

/**
 * The messages of one agent's own conversation with the model, as they are stored.
 *
 * A transcript is a chain of nodes in the artifact store. Each turn adds a node that holds only its own messages and
 * the reference of the node before it, so a turn costs its delta and never the whole (seed 000: role-scoped history).
 */
export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  /** Set where a prefix ends that is equal for many conversations, so that the provider may cache it. */
  readonly cache_breakpoint?: true;
}

export interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string;
  readonly is_error: boolean;
}

/** A block that only the provider understands, such as thinking. Sent back unchanged, to the same conversation only. */
export interface OpaqueBlock {
  readonly type: 'opaque';
  readonly raw: unknown;
}

export type ContentBlock = TextBlock | ToolUseBlock | ToolResultBlock | OpaqueBlock;

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: readonly ContentBlock[];
}

/** Versions of a node's shape, newest last. A reader refuses others by name. */
export const transcriptVersions = [1] as const;

/**
 * How the shape of a final answer is asked for, the fullest form first. A provider that makes a grammar of a schema may
 * refuse one as too large; then the next form is tried.
 *
 * - `whole`: all that the run allows, with descriptions.
 * - `single_agents`: a plan without triads and teams.
 * - `bare`: that without descriptions.
 * - `in_prompt`: no schema; the prompt describes it, and the engine alone checks the answer.
 */
export const schemaForms = ['whole', 'single_agents', 'bare', 'in_prompt'] as const;
export type SchemaForm = (typeof schemaForms)[number];

/** The parts of a plan that not every run has a use for. */
export interface PlanParts {
  readonly triads: boolean;
  readonly teams: boolean;
  /** Whether delegations may do stale ones again. */
  readonly redoes: boolean;
}

/** What a conversation about a plan goes by until its end. */
export interface PlanningTerms extends PlanParts {
  /** Names of the inputs that a delegation may require. */
  readonly known_inputs: readonly string[];
}

/** What one turn added to a conversation, as JSON in the store. */
export interface TranscriptNode {
  readonly version: (typeof transcriptVersions)[number];
  /** The node before; null in the first one. */
  readonly parent: Ref | null;
  /** One user message when the turn appended anything, and one assistant message when its reply was kept. */
  readonly messages: readonly Message[];
  /** The model that was asked. Its opaque blocks are sent to no other. */
  readonly model: string;
  /**
   * Set when the turn's reply is missing: a hash of the inputs that wait for it, so that a repeat with the same inputs
   * does not append them twice. Null when the reply is in `messages`.
   */
  readonly awaiting: string | null;
  /** The first user message as rendered, as an artifact of its own; null where the turn did not begin with a prompt. */
  readonly packet_ref: Ref | null;
  /**
   * Names of the tools that are offered in the whole conversation, in the node that begins it. They are the same for all
   * agents of a wave: what an agent may call is its grant, which is looked at when it calls.
   */
  readonly tools?: readonly string[];
  /** What a plan may hold, in the node that begins a conversation about one; else absent. */
  readonly planning?: PlanningTerms;
  /** The form that is asked for from this turn on, because the provider refused the fuller ones. Absent when none was. */
  readonly schema_form?: SchemaForm;
  /** `tool_use_id`s of results that compaction left out from this turn on. */
  readonly left_out: readonly string[];
}
