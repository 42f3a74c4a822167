import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { OutputShape } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { ToolRegistry } from '../tools/tool.ts';

/** For whom a prompt is rendered. */
export interface PromptReader {
  readonly agent: AgentDefinition;
  readonly registry_ref: Ref;
  /** What it is to answer with. */
  readonly shape: OutputShape;
  /** Names the call, for all its attempts. */
  readonly callKey: string;
  /** All that agents may be granted. */
  readonly tools: ToolRegistry;
}
