import type { Passable } from './agent-output.ts';
import type { CrashedAttempts, UpstreamOutput } from './delegation-run.ts';
import type { StageName } from './names.ts';
import type { Ref } from './ref.ts';
import type { StateToolName } from './state-call.ts';

/**
 * The stored messages of one agent's own conversation with the model.
 *
 * A transcript is a chain of nodes in the artifact store. Each turn adds a node that holds only its own messages and
 * the reference of the node before it, so a turn costs its delta and never the whole (seed 000: role-scoped history).
 */
export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  /** Set at the end of a prefix that is equal for many conversations, so that the provider may cache it. */
  readonly cache_breakpoint?: true;
  /** The provider's citations, unchanged. Absent where it cites nothing. */
  readonly citations?: readonly unknown[];
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
interface OpaqueBlock {
  readonly type: 'opaque';
  readonly raw: unknown;
}

export type ContentBlock = TextBlock | ToolUseBlock | ToolResultBlock | OpaqueBlock;

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: readonly ContentBlock[];
}

/**
 * A text block of the rendered first message, as a stored node has it: the artifact `packet_ref` holds its text, which the
 * node does not repeat. The blocks of a packet follow each other in it, two line breaks apart.
 */
export interface PacketBlock {
  readonly type: 'packet';
  /** Length of its text, in UTF-16 code units. */
  readonly chars: number;
  /** Defined in TextBlock. */
  readonly cache_breakpoint?: true;
}

/** Versions of a node's shape, newest last. A reader refuses others by name. */
export const transcriptVersions = [1] as const;

/**
 * Forms in which the shape of a final answer is requested, the fullest first. A provider that turns a schema into a
 * grammar may refuse it as too large; then the next form is tried.
 *
 * - `whole`: all that the run allows, with descriptions.
 * - `single_agents`: a plan without triads and teams.
 * - `bare`: that without descriptions.
 * - `in_prompt`: no schema; the prompt describes it, and the engine alone checks the answer.
 */
export const schemaForms = ['whole', 'single_agents', 'bare', 'in_prompt'] as const;
export type SchemaForm = (typeof schemaForms)[number];

/** Parts of a plan that not every run uses. */
export interface PlanParts {
  readonly triads: boolean;
  readonly teams: boolean;
  /** True when delegations may redo stale ones. */
  readonly redoes: boolean;
}

/** Terms of a conversation about a plan, fixed until its end. */
export interface PlanningTerms extends PlanParts {
  /** Names of the inputs that a delegation may require. */
  readonly known_inputs: readonly string[];
  /** Those whose result leaves criteria of the run open. Absent when there are none. */
  readonly unmet_inputs?: readonly string[];
  /** True when questions may go to a solution architect. Absent: false. */
  readonly architect?: true;
  /** Sources that settle no question: assumptions, superseded facts and assumed answers. Absent when there are none. */
  readonly unsettled?: readonly string[];
}

/** The part of a model call that is usually the same for all calls of a conversation. */
export interface TurnTerms {
  readonly run_id: string;
  readonly agent_id: string;
  readonly registry_ref: Ref;
  /** The kind of reply that is asked for. The same in a whole conversation, but that a member's last turns may be `member_output`. */
  readonly stage: StageName;
  readonly max_output_tokens: number;
  /** Overrides the agent's own model. */
  readonly model?: string;
  /**
   * Delegation of the call, returned in TurnProgress because one workflow may work on many tasks. Absent for the
   * planner.
   */
  readonly delegation_id?: string;
  /** Attempts at the delegation that crashed: a reply that one of them got is not bought again. Absent for the first. */
  readonly recall?: Pick<CrashedAttempts, 'count' | 'place' | 'since'>;
  /** Scope of the reply's calls that change nothing. Absent where the agent has no such tools. */
  readonly reading?: ReadingScope;
  /** Tools that the workflow decides, offered besides those of the agent. Equal for the whole conversation. */
  readonly state_tools?: readonly StateToolName[];
  /**
   * Texts that the output may pass on. Absent: an AgentOutput is requested; otherwise a PassingOutput, even if the list
   * is empty.
   */
  readonly passable?: readonly Passable[];
}

/** Messages that one turn added to a conversation. */
export interface TranscriptNode {
  readonly version: (typeof transcriptVersions)[number];
  /** The node before this one; null in the first. */
  readonly parent: Ref | null;
  /** One user message when the turn appended input, and one assistant message when its reply was kept. */
  readonly messages: readonly Message[];
  /** The model that was asked. Its opaque blocks are sent to no other model. */
  readonly model: string;
  /**
   * Set when the turn's reply is missing: a hash of the inputs that wait for it, so that a repeat with the same inputs
   * does not append them twice. Null when the reply is in `messages`.
   */
  readonly awaiting: string | null;
  /** The rendered first user message, as an artifact of its own; null when the turn did not begin with a prompt. */
  readonly packet_ref: Ref | null;
  /**
   * Names of the tools that are offered in the whole conversation, in its first node. They are equal for all agents of
   * a wave: an agent's own grant is checked when it calls.
   */
  readonly tools?: readonly string[];
  /** Terms of a plan, in the first node of a conversation about one; otherwise absent. */
  readonly planning?: PlanningTerms;
  /**
   * The form that is requested from this turn on, because the provider refused the fuller ones. Absent when none was
   * refused.
   */
  readonly schema_form?: SchemaForm;
  /** `tool_use_id`s of results that compaction leaves out from this turn on. */
  readonly left_out: readonly string[];
  /** Web addresses in the people's answers and instructions that the turn appended. Absent when there are none. */
  readonly addresses?: readonly string[];
  /** Terms of the call, when it named them all. */
  readonly terms?: TurnTerms;
  /** The node with the terms of the call, when it left some out. */
  readonly terms_at?: Ref;
}

/** A node as JSON in the store. */
export interface StoredNode extends Omit<TranscriptNode, 'messages'> {
  readonly messages: readonly {
    readonly role: Message['role'];
    readonly content: readonly (ContentBlock | PacketBlock)[];
  }[];
}

/** Result of a tool call, as the model will read it. */
export interface ToolRead {
  readonly result_ref: Ref;
  readonly is_error: boolean;
  /** detail_ids that the call loaded. */
  readonly loaded_details: readonly string[];
}

/** Packet of a conversation: all that its tools may read besides the workspace. */
export interface ReadingScope {
  readonly record_ref: Ref;
  readonly upstream: readonly UpstreamOutput[];
  /** Number of details that the calls of the reply may load together, so that every detail can be recorded. */
  readonly loads_left: number;
  /** True when the workflow makes the calls that change something; otherwise they are refused with the others. */
  readonly acts: boolean;
  /** True when the workflow makes calls of research tools, and none that change something. Absent: as `acts` says. */
  readonly researches?: true;
}

/** Call of `web_research` as people see it before they approve it. */
export interface ResearchCall {
  /** The question, cut. */
  readonly target: string;
  /** The arguments as JSON, cut. */
  readonly arguments_shown: string;
  /** True when the agent is of high risk, so that a person approves each call. */
  readonly needs_approval: boolean;
}

/** First message of a nested call: nothing but the arguments of `web_research` goes into it. */
export interface WebResearchPrompt {
  readonly kind: 'web_research';
  /** The arguments as JSON in the store. */
  readonly input_ref: Ref;
}

/** Part of a page that supports a statement of a report. */
export interface SourceRef {
  readonly url: string;
  /** Empty when the page has none. */
  readonly title: string;
  /** Words of the page. Empty for a page that was opened and not quoted. */
  readonly quotation: string;
  /** Time at which the page was read, in ISO 8601. */
  readonly retrieved_at: string;
}

/** Result of `web_research`, as the agent reads it and as the store keeps it. */
export interface WebReport {
  readonly question: string;
  readonly answer_md: string;
  readonly source_refs: readonly SourceRef[];
  readonly searches: number;
  /** Different pages that were fetched or quoted. */
  readonly opened: number;
  /** Searches and fetches that failed, in the provider's words. */
  readonly errors: readonly string[];
}

/** Report without its texts. */
export interface WebReportOutline extends Pick<WebReport, 'searches' | 'opened'> {
  readonly shape: 'web_report';
  /** The WebReport as JSON. */
  readonly report_ref: Ref;
  /** Bytes of the report. */
  readonly bytes: number;
}
