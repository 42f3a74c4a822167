import type { Usage } from '../../contracts/usage.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { Spending } from '../../contracts/budget.ts';
import type { EffectLedger } from '../ports/effect-ledger.ts';
import type { ModelClient, ModelRequest, TokenCount } from '../ports/model-client.ts';
import type { ReplyLedger } from '../ports/reply-ledger.ts';
import type { ToolRegistry } from '../tools/tool.ts';
import type { PrefixGate } from './prefix-gate.ts';

export interface AgentTurnDeps {
  readonly model: ModelClient;
  readonly store: ArtifactStore;
  readonly ledger: ReplyLedger;
  readonly effects: EffectLedger;
  readonly tools: ToolRegistry;
  /** Lets the first call of a wave go out before its siblings. */
  readonly prefixGate: PrefixGate;
  /** The model of agents that name none. */
  readonly defaultModel: string;
  /** Resolves a model's name in a plan; null: it stands for itself. */
  readonly resolveModel: (name: string) => string | null;
  /** Usage of one call. `tokens` is null when the provider told none: the call is then unpriced. */
  readonly computeUsage: (model: string, tokens: TokenCount | null) => Usage;
  /** Computes what one call may take at worst: no text has more tokens than bytes. Unknown prices count as none. */
  readonly computeWorst: (request: ModelRequest) => Spending;
  /**
   * First back-off after a model failure that may pass, in milliseconds. Default 2,000. Doubled with each attempt up to
   * 2 min; the provider's own `retry-after` wins.
   */
  readonly retryBaseMs?: number;
  /** Between two heartbeats, in milliseconds. Default 1,000. */
  readonly heartbeatEveryMs?: number;
  /** Longest tool call, in milliseconds. Default 60,000. */
  readonly toolTimeoutMs?: number;
}
