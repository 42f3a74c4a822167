import type { Usage } from '../../contracts/usage.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { EffectLedger } from '../ports/effect-ledger.ts';
import type { ModelClient, ModelRequest, TokenCount } from '../ports/model-client.ts';
import type { ReplyLedger } from '../ports/reply-ledger.ts';
import type { Worktrees } from '../ports/worktrees.ts';
import type { PinnedTool } from '../ports/mcp-servers.ts';
import type { GrantableTool, ToolRegistry } from '../tools/tool.ts';
import type { PrefixGate } from './prefix-gate.ts';

export const toolTimeoutMsDefault = 60_000;

export interface AgentTurnDeps {
  readonly model: ModelClient;
  readonly store: ArtifactStore;
  readonly ledger: ReplyLedger;
  readonly effects: EffectLedger;
  readonly tools: ToolRegistry;
  /** Makes a tool of one that a run has pinned. If undefined, runs have none. */
  readonly toMcpTool?: (pin: PinnedTool) => GrantableTool;
  /** Says which files an output may name as unchanged. */
  readonly worktrees: Pick<Worktrees, 'listTouched'>;
  /** Gate that lets the first call of a wave go out before its siblings. */
  readonly prefixGate: PrefixGate;
  /** Model of agents that name none. */
  readonly defaultModel: string;
  /** Model of nested calls that search the web. If undefined, that of the agent. */
  readonly webModel?: string | undefined;
  /** Resolves a model's name in a plan; null: it stands for itself. */
  readonly resolveModel: (name: string) => string | null;
  /** Computes the usage of one call from the provider's counts. A model name without a price has the requested one's. */
  readonly computeUsage: (
    model: { readonly requested: string; readonly answered: string },
    tokens: TokenCount,
  ) => Usage;
  /**
   * Computes what one call may use at worst, as a call without a report: no text has more tokens than bytes. Unknown
   * prices count as none.
   */
  readonly computeWorst: (request: ModelRequest) => Usage;
  /**
   * First back-off in milliseconds after a model failure that may be temporary. Default 2,000. Doubled with each
   * attempt up to 2 min; the provider's own `retry-after` takes precedence.
   */
  readonly retryBaseMs?: number;
  /** Interval between two heartbeats in milliseconds. Default 1,000. */
  readonly heartbeatEveryMs?: number;
  /** Timeout of a tool call in milliseconds. Default 60,000. */
  readonly toolTimeoutMs?: number;
}
