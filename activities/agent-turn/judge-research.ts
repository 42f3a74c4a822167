import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { ModelTurnInput, ToolCall } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import { needsApproval } from '../../core/effects/decide-approval.ts';
import { engineLimits } from '../../core/limits.ts';
import { cutMiddle } from '../../core/text/cut-text.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ToolAnswer } from '../tools/call-tool.ts';
import type { ResearchTool } from '../tools/tool.ts';
import { loadConversation } from './conversation.ts';
import type { AgentTurnDeps } from './deps.ts';

/** The conversation that makes the call. */
interface Caller {
  readonly deps: Pick<AgentTurnDeps, 'store'>;
  readonly input: Pick<ModelTurnInput, 'reading'>;
  readonly agent: AgentDefinition;
  /** Newest node of the conversation. */
  readonly head: Ref;
}

/**
 * Judges a call whose work is a model call of its own. Nothing is sent here: the workflow makes the call, after an
 * approval where one is needed.
 *
 * @param args The arguments as the model wrote them.
 * @returns what people see of the call, or the result that says what to do instead.
 */
export async function judgeResearch(
  { deps: { store }, input: { reading }, agent, head }: Caller,
  tool: ResearchTool,
  input: unknown,
  args: unknown,
): Promise<ToolAnswer | Required<Pick<ToolCall, 'research'>>> {
  if (reading === undefined) throw new Error(`${tool.spec.name} has no reading scope.`);
  const { record_ref } = reading;
  const listEarlier = () => listResults(store, head, tool.spec.name);
  const refusal = await tool.findRefusal(input, { store, record_ref, listEarlier });
  if (refusal !== null) return { text: refusal, is_error: true };
  const facts = { mark: tool.approval, risk: agent.risk_level, losesWork: false, isGuarded: false };
  return {
    research: {
      target: tool.targetOf(input),
      arguments_shown: cutMiddle(JSON.stringify(args), engineLimits.shownArgumentsCharsMax),
      needs_approval: needsApproval(facts),
    },
  };
}

/** Lists the results of a tool's earlier calls in a conversation. */
async function listResults(store: ArtifactStore, head: Ref, name: string): Promise<string[]> {
  const { nodes } = await loadConversation(store, head);
  const blocks = nodes.flatMap(({ messages }) => messages.flatMap(({ content }) => content));
  const calls = new Set(
    blocks.flatMap((block) => (block.type === 'tool_use' && block.name === name ? [block.id] : [])),
  );
  return blocks.flatMap((block) =>
    block.type === 'tool_result' && !block.is_error && calls.has(block.tool_use_id)
      ? [block.content]
      : [],
  );
}
