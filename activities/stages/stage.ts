import type { z } from 'zod';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { Passable } from '../../contracts/agent-output.ts';
import type { OutputShape, Prompt, TurnOutline } from '../../contracts/model-turn.ts';
import type { DesignStageName, StageName } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { Ref } from '../../contracts/ref.ts';
import type {
  ContentBlock,
  Message,
  PlanningTerms,
  SchemaForm,
} from '../../contracts/transcript.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { SystemBlock, WebLimits } from '../ports/model-client.ts';
import type { ToolRegistry } from '../tools/tool.ts';

/** Kind of model reply: everything that the engine knows of it. `stages.ts` lists them all. */
export interface Stage<P extends Prompt = Prompt> {
  readonly reply: Reply;
  /**
   * The tools that the stage offers besides the state tools of the turn: those of all agents in the plan of the `wave`, so that
   * they share a cached prefix; those that the agent's file has `granted`; of these the ones for `reading`, or for `research`; the `planner`'s; or `none`, and then a
   * reply that calls one goes back.
   */
  readonly tools: 'wave' | 'granted' | 'reading' | 'research' | 'planner' | 'none';
  /** True for what the user asks beside a run: its use is not the run's. Absent: it is part of it. */
  readonly isBesideRun?: true;
  /** Limits of the provider's own search and fetch. Absent: it has none. */
  readonly web?: WebLimits;
  /**
   * Builds the system prompt: equal in all runs with the same settings. @param planning Null when no prompt says what a
   * plan may hold.
   */
  system(agent: AgentDefinition, planning: PlanningTerms | null): SystemBlock[];
  /** Renders the first message. The same prompt always gives the same bytes. */
  render(store: ArtifactStore, prompt: P, reader: PromptReader): Promise<ContentBlock[]>;
  /** Reads the terms that the first prompt sets for the whole conversation. Absent or null: it sets none. */
  readTerms?(store: ArtifactStore, prompt: P): Promise<PlanningTerms | null>;
}

/** First prompt of a stage. A member that writes the output began like any member; all stages of a design begin alike. */
export type PromptOf<N extends StageName> = Extract<
  Prompt,
  { kind: N extends 'member_output' ? 'member' : N extends DesignStageName ? 'design' : N }
>;

/** The agent that a prompt is rendered for. */
export interface PromptReader {
  readonly agent: AgentDefinition;
  readonly registry_ref: Ref;
  /** Key of the call, for all its attempts. */
  readonly callKey: string;
  /** All tools that agents may be granted. */
  readonly tools: ToolRegistry;
}

/** Final text of a stage: how it is requested, read, checked and reported to the workflow. */
export interface Reply {
  readonly shape: OutputShape;
  /** Follows the faults that go back to the model. */
  readonly cure: string;
  /** Names what the model is to give instead of a tool call that it may not make. */
  readonly noun: string;
  /**
   * Returns the schema that the provider is asked for; null for free text. Equal schemas are one object, because
   * requests are cached by the schema they were made of.
   */
  schemaFor(terms: SchemaTerms): z.ZodType | null;
  /**
   * Reads a final text. Nothing is repaired: a text that does not fit goes back to the model with every fault at once.
   */
  take(text: string, context: ReplyContext): Promise<TakenReply | RefusedReply>;
}

/** The terms that a reply's schema depends on. */
export interface SchemaTerms {
  readonly planning: PlanningTerms | null;
  readonly form: SchemaForm;
  /** True if an agent's output may pass on texts of others. */
  readonly passes: boolean;
}

/** The context in which a final text is read. */
export interface ReplyContext {
  readonly store: ArtifactStore;
  readonly passable: readonly Passable[] | undefined;
  readonly planning: PlanningTerms | null;
  /** Conversation that led to the text. */
  readonly messages: readonly Message[];
  readonly tools: ToolRegistry;
  /** Content of the reply that ends in the text. */
  readonly content: readonly ContentBlock[];
}

export interface TakenReply {
  readonly ok: true;
  readonly text: string;
  /** Reduces the reply to what the rules need to know. Its long texts stay in the artifact. */
  outline(ref: Ref): TurnOutline;
  /** Returns the outline with everything that only the texts show. Absent: they show nothing more. */
  outlineChecked?(ref: Ref): TurnOutline;
}

export interface RefusedReply {
  readonly ok: false;
  readonly faults: readonly OutputFault[];
}

/** The words that go with the faults of a reply that is one JSON object. */
export const jsonReply = {
  cure: 'Your last output was not taken, for the faults listed here. Mend every one and give the whole output again, as one JSON object in the shape asked for. Change nothing else without need, and claim nothing that was not done.',
  noun: 'JSON',
} as const;

/**
 * Creates the system prompt of agents that do work. It holds rules only: their role differs within a wave, so it stands
 * in the first user message, after all that the wave shares. It ends in a cache breakpoint.
 */
export function doerSystem(rules: string): Stage['system'] {
  return () => [{ text: rules, cacheBreakpoint: true }];
}

/** Creates the system prompt of the planner. There is one planner, so its role stands here. */
export function plannerSystem(
  rulesFor: (planning: PlanningTerms | null) => string,
): Stage['system'] {
  return (agent, planning) => [
    { text: rulesFor(planning), cacheBreakpoint: true },
    { text: `# Your role: ${agent.agent_id}\n${agent.prompt}`, cacheBreakpoint: true },
  ];
}
