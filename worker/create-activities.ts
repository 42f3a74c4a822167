import type { Activities } from '../contracts/activity-types.ts';
import { createAnthropicClient } from '../activities/adapters/anthropic/anthropic-client.ts';
import { createFileProjection } from '../activities/adapters/file-projection.ts';
import { createFileArtifactStore } from '../activities/adapters/file-store/file-artifact-store.ts';
import { createFileEffectLedger } from '../activities/adapters/file-store/file-effect-ledger.ts';
import { createFileReplyLedger } from '../activities/adapters/file-store/file-reply-ledger.ts';
import { createFileRunIndex } from '../activities/adapters/file-store/file-run-index.ts';
import { openSegments } from '../activities/adapters/file-store/segments.ts';
import type { Segments } from '../activities/adapters/file-store/segments.ts';
import { createRunChanges } from '../activities/adapters/git/git-run-changes.ts';
import { createGitWorktrees } from '../activities/adapters/git/git-worktrees.ts';
import { openMcpServers } from '../activities/adapters/mcp/open-mcp-servers.ts';
import { createFileWorkspaces } from '../activities/adapters/workspaces/file-workspaces.ts';
import { createPageFetcher } from '../activities/adapters/web/fetch-page.ts';
import { createThreadStore } from '../activities/adapters/thread-store/create-thread-store.ts';
import { computeWorst } from '../activities/adapters/anthropic/compute-worst.ts';
import { resolveModelName } from '../activities/adapters/agent-file/parse-agent-file.ts';
import { computeUsage, isPriced, pricedModels } from '../activities/adapters/prices.ts';
import { log } from '@temporalio/activity';
import { noopMetricMeter } from '@temporalio/common';
import { createAgentTurnActivities } from '../activities/agent-turn/create-agent-turn-activities.ts';
import type { AgentTurnDeps } from '../activities/agent-turn/deps.ts';
import { PrefixGate } from '../activities/agent-turn/prefix-gate.ts';
import { meterModel } from '../activities/agent-turn/meter-model.ts';
import { createMiddlewareActivities } from '../activities/middlewares/apply-middleware.ts';
import {
  createMiddlewareRegistry,
  describeMiddlewares,
} from '../activities/middlewares/middleware-registry.ts';
import type { Middleware, MiddlewareRegistry } from '../activities/ports/middleware.ts';
import type { Cipher } from '../activities/ports/cipher.ts';
import type { ModelClient, ModelRequest } from '../activities/ports/model-client.ts';
import type { Redactor } from '../activities/ports/redactor.ts';
import {
  redactEffects,
  redactLedger,
  redactMiddlewares,
  redactProjection,
  redactStore,
  redactThreads,
  redactTool,
  redactTools,
} from '../activities/redaction/redact-ports.ts';
import {
  encryptEffects,
  encryptLedger,
  encryptNames,
  encryptStore,
  withholdProjection,
} from '../activities/encryption/encrypt-ports.ts';
import { redactModel } from '../activities/redaction/redact-model.ts';
import { createTeamActivities } from '../activities/team/create-team-activities.ts';
import { createRecordActivities } from '../activities/run-record/create-record-activities.ts';
import { createDesignActivities } from '../activities/design/create-design-activities.ts';
import type { DesignDeps } from '../activities/design/create-design-activities.ts';
import type { ArtifactStore } from '../activities/ports/artifact-store.ts';
import { createThreadActivities } from '../activities/threads/thread-activities.ts';
import { createMcpTool } from '../activities/tools/mcp/create-mcp-tool.ts';
import { createVerificationActivities } from '../activities/verification/create-verification-activities.ts';
import { createTools } from '../activities/tools/registry/create-registry.ts';
import type { ToolPlaces } from '../activities/tools/registry/create-registry.ts';
import { listGrantable, listProperties, listWorkspaceTools } from '../activities/tools/tool.ts';
import type { GrantableTool, ToolRegistry } from '../activities/tools/tool.ts';
import { createRecorder } from '../core/metrics/create-recorder.ts';
import { readKeyRing } from '../encryption/key-ring.ts';
import { createStoreCipher } from '../encryption/store-cipher.ts';
import { createShippedMiddlewares } from '../activities/middlewares/shipped-middlewares.ts';
import { createAgentsOf } from './create-input-check.ts';
import { describeMissing } from './open-commands.ts';
import type { Commands } from './open-commands.ts';
import { describeMissingWeb, webDefaults } from './web-settings.ts';
import type { WorkerSettings } from './worker-settings.ts';

/** Time limits of the activities. Tests shorten them. */
export interface ActivityTimes {
  readonly retryBaseMs?: number;
  readonly heartbeatEveryMs?: number;
  readonly idleTimeoutMs?: number;
  readonly totalTimeoutMs?: number;
}

const notLookedFor: Commands = {
  cause: 'this worker was started without commands',
  cure: 'npm run worker, or npm run dev',
};

/**
 * Connects ports with adapters, which besides this file only the check of an input does, to look and not to write.
 *
 * @param redactor Redacts for every port that writes.
 * @param recorder Counts time and use of calls; by default nothing is counted.
 * @param ownMiddlewares Those of the worker's owner, besides the shipped ones; none by default.
 * @param commands Result of `openCommands`; none by default.
 * @param ownTools Those of the worker's owner, besides the shipped ones; none by default.
 * @param mcp Servers of tools, which the caller closes; none by default.
 */
export function createActivities(
  settings: WorkerSettings,
  redactor: Redactor,
  times: ActivityTimes = {},
  recorder = createRecorder(noopMetricMeter),
  ownMiddlewares: readonly Middleware[] = [],
  commands: Commands = notLookedFor,
  ownTools: readonly GrantableTool[] = [],
  mcp = openMcpServers(new Map()),
): Activities {
  const { home, apiKey, baseUrl, defaultModel, isRehearsal } = settings;
  const { idleTimeoutMs, totalTimeoutMs, ...turnTimes } = times;
  const { store, ledger, effects, projection, ...opened } = openStores(settings, redactor);
  const places = createPlaces(settings, commands, opened);
  const tools = redactTools(createTools({ ...places, own: ownTools }), redactor);
  const toolNames = listGrantable(tools).map(({ spec }) => spec.name);
  const middlewares = createMiddlewares(redactor, ownMiddlewares);
  const client = createAnthropicClient({
    apiKey,
    baseUrl,
    idleTimeoutMs,
    totalTimeoutMs,
    redact: (text) => redactor.redactText(text, 'failure'),
  });
  const provider = meterModel(client, recorder, { computeUsage, computeWorst });
  return {
    ...createTeamActivities({ store, projection }),
    ...createMiddlewareActivities({ store, middlewares }),
    ...createAgentTurnActivities({
      model: redactModel(isRehearsal ? rehearse(provider) : provider, redactor),
      store,
      ledger,
      effects,
      tools,
      toMcpTool: (pin) => redactTool(createMcpTool(mcp, pin), redactor),
      worktrees: places.worktrees,
      prefixGate: new PrefixGate(),
      defaultModel,
      webModel: webModelOf(settings),
      resolveModel: resolveModelName,
      ...(isRehearsal ? rehearsedPrices : { computeUsage, computeWorst }),
      ...turnTimes,
    }),
    ...createRecordActivities({
      store,
      index: createFileRunIndex({ home }),
      agents: agentsOf(settings, commands, toolNames),
      projection,
      workspaces: places.workspaces,
      changes: createRunChanges({ home }),
      approvers: settings.approvers ?? null,
      toolNames,
      toolProperties: listProperties(tools),
      mcp,
      onLeftOut: (words) => log.warn(words),
      workspaceTools: listWorkspaceTools(tools),
      middlewareNames: describeMiddlewares(middlewares),
      // The models of another server are unknown.
      models: baseUrl === undefined || isRehearsal ? [...pricedModels] : [],
      isPriced: (model) =>
        isRehearsal || isPriced((model === null ? null : resolveModelName(model)) ?? defaultModel),
    }),
    ...createDesignActivities(designDeps(home, store, tools, opened.cipher)),
    ...createVerificationActivities({ store, projection, ...places }),
    ...createThreadActivities(threadDeps(settings, store, redactor)),
  };
}

interface OpenedHome {
  readonly segments: Segments;
  readonly cipher: Cipher;
}

/** Opens what keeps content: texts are redacted first, and then encrypted. */
function openStores({ home, keys = readKeyRing(undefined) }: WorkerSettings, redactor: Redactor) {
  const segments = openSegments({ home });
  const cipher = createStoreCipher(keys);
  return {
    segments,
    cipher,
    store: redactStore(encryptStore(createFileArtifactStore({ segments }), cipher), redactor),
    ledger: redactLedger(encryptLedger(createFileReplyLedger({ segments }), cipher), redactor),
    effects: redactEffects(encryptEffects(createFileEffectLedger({ home }), cipher), redactor),
    projection: redactProjection(
      withholdProjection(createFileProjection({ home }), cipher),
      redactor,
    ),
  };
}

/** Reads agents; those that grant what this worker lacks go on without it, or are refused with the cause. */
function agentsOf(
  { agentRoots, web = webDefaults }: WorkerSettings,
  commands: Commands,
  toolNames: readonly string[],
): ReturnType<typeof createAgentsOf> {
  return createAgentsOf(toolNames, {
    agentRoots,
    missingTools: { ...describeMissing(commands), ...describeMissingWeb(web) },
    onLeftOut: (words) => log.warn(words),
  });
}

/** Returns the model of nested calls: a small one of the provider. The models of another server are unknown. */
function webModelOf({ baseUrl, web = webDefaults }: WorkerSettings): string | undefined {
  const name = web.model ?? (baseUrl === undefined ? 'haiku' : null);
  return name === null ? undefined : (resolveModelName(name) ?? undefined);
}

function createMiddlewares(redactor: Redactor, own: readonly Middleware[]): MiddlewareRegistry {
  return redactMiddlewares(
    createMiddlewareRegistry([...createShippedMiddlewares(redactor), ...own]),
    redactor,
  );
}

function threadDeps(
  { home, threadsUrl }: WorkerSettings,
  store: ArtifactStore,
  redactor: Redactor,
): Parameters<typeof createThreadActivities>[0] {
  return { store, threads: redactThreads(createThreadStore({ home, threadsUrl }), redactor) };
}

function designDeps(
  home: string,
  store: ArtifactStore,
  tools: ToolRegistry,
  cipher: Cipher,
): DesignDeps {
  return {
    store,
    research: encryptNames(createFileRunIndex({ home, folder: 'research' }), cipher),
    runs: createFileRunIndex({ home }),
    toolProperties: listProperties(tools),
    toolNames: listGrantable(tools).map(({ spec }) => spec.name),
  };
}

/** A user's file that is replaced is kept as it is: with marks in it, nothing could restore it. */
function createPlaces(
  settings: WorkerSettings,
  commands: Commands,
  { segments, cipher }: OpenedHome,
): ToolPlaces {
  const { home, workspaceRoots: roots, tools } = settings;
  const unredacted = encryptStore(createFileArtifactStore({ segments }), cipher);
  const keep = (content: Uint8Array) => unredacted.put(content);
  const worktrees = createGitWorktrees({ home });
  const workspaces = createFileWorkspaces({
    home,
    roots,
    worktrees,
    keep,
    readable: tools?.readable ?? [],
  });
  const runner = 'runner' in commands ? commands.runner : null;
  const untrusted = tools?.untrustedWorkspaces ?? false;
  const { on, hosts } = settings.web ?? webDefaults;
  const pages = hosts.length === 0 ? null : createPageFetcher({ hosts });
  const web = on ? { pages } : null;
  return { workspaces, worktrees, commands: runner, untrusted, web };
}

/** The rehearsal costs nothing, whichever model an agent names. */
const rehearsalModel = 'rehearsal';

const rehearsedPrices: Pick<AgentTurnDeps, 'computeUsage' | 'computeWorst'> = {
  computeUsage: ({ answered }, tokens) =>
    computeUsage({ requested: rehearsalModel, answered }, tokens),
  computeWorst: (request) => computeWorst(toRehearsal(request)),
};

function toRehearsal(request: ModelRequest): ModelRequest {
  return { ...request, model: rehearsalModel };
}

/** Sends every call to the rehearsal model. */
function rehearse(provider: ModelClient): ModelClient {
  return { complete: (request, options) => provider.complete(toRehearsal(request), options) };
}
