import type { Activities } from '../contracts/activity-types.ts';
import { createAnthropicClient } from '../activities/adapters/anthropic/anthropic-client.ts';
import { createFileProjection } from '../activities/adapters/file-projection.ts';
import { createRunChanges } from '../activities/adapters/git/git-run-changes.ts';
import { openMcpServers } from '../activities/adapters/mcp/open-mcp-servers.ts';
import { openStores } from '../activities/adapters/open-stores.ts';
import { computeWorst } from '../activities/adapters/anthropic/build-params.ts';
import { resolveModelName } from '../activities/adapters/agent-file/parse-agent-file.ts';
import { computeUsage, isPriced, pricedModels } from '../activities/adapters/prices.ts';
import { log } from '@temporalio/activity';
import { noopMetricMeter } from '@temporalio/common';
import { createAgentTurnActivities } from '../activities/agent-turn/create-agent-turn-activities.ts';
import type { AgentTurnDeps } from '../activities/agent-turn/deps.ts';
import { PrefixGate } from '../activities/agent-turn/prefix-gate.ts';
import { meterModel } from '../activities/agent-turn/meter-model.ts';
import { paceModel } from '../activities/load/pace-model.ts';
import { limitTenants } from '../activities/load/tenant-budgets.ts';
import { nameAccount, describeMissingWeb, webDefaults } from './part-settings.ts';
import { createMiddlewareActivities } from '../activities/middlewares/apply-middleware.ts';
import {
  createMiddlewareRegistry,
  describeMiddlewares,
  createShippedMiddlewares,
} from '../activities/middlewares/shipped-middlewares.ts';
import type { Middleware, MiddlewareRegistry } from '../activities/ports/middleware.ts';
import type { Cipher } from '../activities/ports/cipher.ts';
import type { ModelClient, ModelRequest } from '../activities/ports/model-client.ts';
import type { Redactor } from '../activities/ports/redactor.ts';
import {
  redactEffects,
  redactLedger,
  redactMiddlewares,
  redactNotifier,
  redactProjection,
  redactStore,
  redactThreads,
  redactTool,
  redactTools,
} from '../activities/redaction/redact-ports.ts';
import { withholdProjection } from '../activities/encryption/encrypt-ports.ts';
import { redactRunChanges } from '../activities/redaction/redact-places.ts';
import { redactModel } from '../activities/redaction/redact-model.ts';
import { createTeamActivities } from '../activities/team/create-team-activities.ts';
import { createRecordActivities } from '../activities/run-record/create-record-activities.ts';
import type { RecordDeps } from '../activities/run-record/deps.ts';
import { createEvaluationActivities } from '../activities/evaluation/create-evaluation-activities.ts';
import {
  createDesignActivities,
  type DesignDeps,
} from '../activities/design/create-design-activities.ts';
import type { ArtifactStore } from '../activities/ports/artifact-store.ts';
import type { Stores } from '../activities/ports/stores.ts';
import { createNotifier } from '../activities/adapters/notifier.ts';
import { createNotificationActivities } from '../activities/notification/send-notification.ts';
import { createThreadActivities } from '../activities/threads/thread-activities.ts';
import { createMcpTool } from '../activities/tools/mcp/create-mcp-tool.ts';
import { createVerificationActivities } from '../activities/verification/create-verification-activities.ts';
import { createTools, type ToolPlaces } from '../activities/tools/registry/create-registry.ts';
import {
  listGrantable,
  listProperties,
  listWorkspaceTools,
  type GrantableTool,
  type ToolRegistry,
} from '../activities/tools/tool.ts';
import { createRecorder } from '../core/metrics/create-recorder.ts';
import { readKeyRing } from '../encryption/key-ring.ts';
import { createStoreCipher } from '../encryption/encrypting-codec.ts';
import { createAgentsOf } from './create-input-check.ts';
import { createPlaces } from './create-places.ts';
import { describeMissing, describeNoCommands, type Commands } from './open-commands.ts';
import { entryPoints } from '../core/text/entry-points.ts';
import type { WorkerSettings } from './worker-settings.ts';

/** Time limits of the activities. Tests shorten them. */
export interface ActivityTimes {
  readonly retryBaseMs?: number;
  readonly heartbeatEveryMs?: number;
  readonly idleTimeoutMs?: number;
  readonly totalTimeoutMs?: number;
  readonly notifyTimeoutMs?: number;
}

const notLookedFor: Commands = {
  cause: 'this worker was started without commands',
  cure: `${entryPoints.worker}, or ${entryPoints.dev}`,
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
 * @param stores By default those that the settings name.
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
  stores = openStores({ ...settings, cipher: cipherOf(settings) }),
): Activities {
  const { home, defaultModel, isRehearsal, notify } = settings;
  const { idleTimeoutMs, totalTimeoutMs, notifyTimeoutMs: hookMs, ...turnTimes } = times;
  const store = redactStore(stores.store, redactor);
  const projection = redactProjection(
    withholdProjection(createFileProjection({ home }), cipherOf(settings)),
    redactor,
  );
  const places = createPlaces(settings, commands, stores, redactor);
  const changes = redactRunChanges(createRunChanges({ home }), redactor);
  const tools = redactTools(createTools({ ...places, own: ownTools }), redactor);
  const middlewares = redactMiddlewares(
    createMiddlewareRegistry([...createShippedMiddlewares(redactor), ...ownMiddlewares]),
    redactor,
  );
  const asked = createProvider(settings, redactor, { idleTimeoutMs, totalTimeoutMs }, recorder);
  const load = { values: stores.shared, account: nameAccount(settings), pricing };
  const provider = paceModel(limitTenants(asked, load), load);
  const parts = { store, projection, places, changes, tools, middlewares, mcp };
  const record = recordDeps(settings, commands, stores, parts);
  return {
    ...createTeamActivities({ store, projection, worktrees: places.worktrees }),
    ...createMiddlewareActivities({ store, middlewares }),
    ...createAgentTurnActivities({
      model: redactModel(isRehearsal ? rehearse(provider) : provider, redactor),
      store,
      ledger: redactLedger(stores.ledger, redactor),
      effects: redactEffects(stores.effects, redactor),
      tools,
      toMcpTool: (pin) => redactTool(createMcpTool(mcp, pin, redactor), redactor),
      worktrees: places.worktrees,
      prefixGate: new PrefixGate(),
      defaultModel,
      webModel: webModelOf(settings),
      resolveModel: resolveModelName,
      ...(isRehearsal ? rehearsedPrices : pricing),
      ...turnTimes,
    }),
    ...createRecordActivities(record),
    ...createDesignActivities({ ...designDeps(stores, store, tools), ...queueOf(settings) }),
    ...createVerificationActivities({ store, projection, ...places }),
    ...createEvaluationActivities({
      ...record,
      ...places,
      kept: stores.research,
      defaultModel: isRehearsal ? rehearsalModel : defaultModel,
      noCommands: describeNoCommands(commands),
    }),
    ...createNotificationActivities(
      notify === undefined ? null : redactNotifier(createNotifier(notify, hookMs), redactor),
    ),
    ...createThreadActivities({ store, threads: redactThreads(stores.threads, redactor) }),
  };
}

function recordDeps(
  settings: WorkerSettings,
  commands: Commands,
  stores: Stores,
  { tools, places, middlewares, ...parts }: RecordParts,
): RecordDeps {
  const toolNames = listGrantable(tools).map(({ spec }) => spec.name);
  return {
    ...parts,
    index: stores.index,
    identifyStore: stores.identify,
    agents: agentsOf(settings, commands, toolNames),
    workspaces: places.workspaces,
    approvers: settings.approvers ?? null,
    notifies: settings.notify !== undefined,
    ...queueOf(settings),
    toolNames,
    toolProperties: listProperties(tools),
    onLeftOut: (words) => log.warn(words),
    workspaceTools: listWorkspaceTools(tools),
    middlewareNames: describeMiddlewares(middlewares),
    ...knownModels(settings),
  };
}

/** Returns the queue of model calls; none where the worker gives them no rate. */
function queueOf({ models }: WorkerSettings): Pick<RecordDeps, 'modelQueue'> {
  return { modelQueue: models?.rate === undefined ? undefined : models.queue };
}

/** Ports of the record, redacted where they write. */
interface RecordParts extends Pick<RecordDeps, 'store' | 'projection' | 'changes'> {
  readonly mcp: ReturnType<typeof openMcpServers>;
  readonly places: ToolPlaces;
  readonly tools: ToolRegistry;
  readonly middlewares: MiddlewareRegistry;
}

export function cipherOf({ keys = readKeyRing(undefined) }: Pick<WorkerSettings, 'keys'>): Cipher {
  return createStoreCipher(keys);
}

function createProvider(
  { apiKey, baseUrl }: WorkerSettings,
  redactor: Redactor,
  times: Pick<Parameters<typeof createAnthropicClient>[0], 'idleTimeoutMs' | 'totalTimeoutMs'>,
  recorder: ReturnType<typeof createRecorder>,
): ModelClient {
  const redact = (text: string): string => redactor.redactText(text, 'failure');
  const client = createAnthropicClient({ apiKey, baseUrl, ...times, redact });
  return meterModel(client, recorder, pricing);
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

/** The models of another server are unknown. */
function knownModels({
  baseUrl,
  defaultModel,
  isRehearsal,
}: WorkerSettings): Pick<Parameters<typeof createRecordActivities>[0], 'models' | 'isPriced'> {
  return {
    models: baseUrl === undefined || isRehearsal ? [...pricedModels] : [],
    isPriced: (model) =>
      isRehearsal || isPriced((model === null ? null : resolveModelName(model)) ?? defaultModel),
  };
}

/** @param store redacted. */
function designDeps(stores: Stores, store: ArtifactStore, tools: ToolRegistry): DesignDeps {
  return {
    store,
    research: stores.research,
    runs: stores.index,
    toolProperties: listProperties(tools),
    toolNames: listGrantable(tools).map(({ spec }) => spec.name),
  };
}

const pricing = { computeUsage, computeWorst };

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
