import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { Ref } from '../../contracts/ref.ts';

/** For whom a prompt is rendered. */
export interface PromptReader {
  readonly agent: AgentDefinition;
  readonly registry_ref: Ref;
  /** Names the call, for all its attempts. */
  readonly callKey: string;
}
