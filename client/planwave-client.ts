import { ScheduleClient, WorkflowClient, type WorkflowClientInterceptor } from '@temporalio/client';
import type { EvaluationInput } from '../contracts/evaluation.ts';
import type { AmendMessage, ControlMessage, ResumeMessage } from '../contracts/messages.ts';
import { queryNames, signalNames, taskQueue } from '../contracts/names.ts';
import type { PlannerRunInput } from '../contracts/planner-run.ts';
import type { AnswerInput } from '../contracts/question.ts';
import type { TeamInput } from '../contracts/team.ts';
import type {
  DelegationStatusView,
  QuestionsView,
  RunWavesView,
  StatusView,
  WaveView,
} from '../contracts/views.ts';
import { ifOpen, PlanwaveClientError } from './client-error.ts';
import {
  consult,
  evaluate,
  type StartedEvaluation,
  startRun,
  startTeam,
  type StartedRun,
  type StartRunOptions,
} from './start-run.ts';
import { createEncryptingCodec, explainFault } from '../encryption/encrypting-codec.ts';
import { BadKeys, readKeyRing, type KeyRing } from '../encryption/key-ring.ts';
import { createRedactor } from '../redaction/create-redactor.ts';
import { collectOwnSecrets } from '../redaction/own-secrets.ts';
import { createRedactingCodec } from '../redaction/redacting-codec.ts';
import {
  type ServerAddress,
  type ClientContext,
  callServer,
  refusePlainText,
} from './server-calls.ts';
import {
  findWork,
  readDelegation,
  readStageCalls,
  readTeam,
  type ActivityReading,
  type DelegationReading,
  type TeamLook,
} from './read-work.ts';
import { createSchedules, type Schedules } from './schedules.ts';
import { readUsageNow, type UsageNow } from './usage-now.ts';
import {
  listParked,
  listRuns,
  readOpenHistories,
  refuseEvaluation,
  type ListedRun,
  type ListOptions,
  type RunListing,
  type OpenHistory,
} from './run-listing.ts';
import {
  describeRun,
  readRunEnd,
  readStatus,
  readView,
  type Reading,
  type RunEnd,
  type WorkAddress,
} from './read-view.ts';
import { listLateNotifications, type LateNotification } from './late-notifications.ts';
import {
  findStuck,
  listLongHistories,
  listStuck,
  type LongHistory,
  type StuckWorkflow,
} from './stuck-workflows.ts';
import { findStoreWaits, type StoreWait } from './store-waits.ts';
import { submitAnswer, type AnswerOptions, type AnswerResult } from './submit-answer.ts';
import type { ConsultationInput, ConsultationResult } from '../contracts/design-run.ts';

/**
 * A typed client of the engine. Every method throws PlanwaveClientError and nothing else, and every method but
 * `waitForEnd` and `openHistories` gives up within 10 s.
 *
 * Secrets in what is sent are replaced by marks before it is sent, and there is no way around that: the server keeps what
 * it gets for as long as it keeps the run.
 */
export interface PlanwaveClient {
  readonly address: string;
  readonly namespace: string;

  /** Starts a run. A run id that was ever used is refused with `already_exists`: one id is one run. */
  startRun(input: PlannerRunInput, options?: StartRunOptions): Promise<StartedRun>;
  /** Starts a team alone, as the workflow `team`. What is asked of it works as for a run. */
  startTeam(input: TeamInput, options?: StartRunOptions): Promise<StartedRun>;
  /** Newest first. Works with every worker off. */
  list(options?: ListOptions): Promise<readonly ListedRun[]>;
  /** Reads what the server knows of one run. Works with every worker off. */
  describe(runId: string): Promise<RunListing>;

  /** Lists the workflows that no worker can carry on, of one run or of all. Works with every worker off. */
  stuck(runId?: string): Promise<readonly StuckWorkflow[]>;
  /** Lists what waits for a store, in one run or in all. Works with every worker off. */
  storeWaits(runId?: string): Promise<readonly StoreWait[]>;
  /** Returns open workflows whose history comes near the size at which the server ends it. */
  longHistories(): Promise<readonly LongHistory[]>;
  /** Lists messages to people that are tried for more than a minute, or were given up within a day. */
  lateNotifications(): Promise<readonly LateNotification[]>;
  /** The histories of every open workflow of ours on the task queue, read one by one as they are asked for. */
  openHistories(): AsyncIterable<OpenHistory>;

  status(runId: string): Promise<Reading<StatusView>>;
  /** All that a run has used until now, the wave at work too: asks what is at work below the view. */
  usageNow(status: StatusView): Promise<UsageNow>;
  questions(runId: string): Promise<Reading<QuestionsView>>;
  waves(runId: string): Promise<Reading<RunWavesView>>;
  /** Live states of one wave, by the `wave_workflow_id` of the status view. */
  waveView(waveWorkflowId: string): Promise<Reading<WaveView>>;
  /** Reads the usage and the activities of a delegation, by its view. */
  delegation(address: WorkAddress): Promise<DelegationReading>;
  /** Reads the model calls of the stages of a design that its status view has at work. */
  stageCalls(status: StatusView): Promise<readonly ActivityReading[]>;
  /** Reads the state of a delegation below a wave by its path, `<wave>/<delegation_id>`; null when none is told. */
  work(path: string): Promise<DelegationStatusView | null>;

  /**
   * A team at this moment, with what its members are writing: see `streamTeam`. Its id is that of a workflow `team`, or the
   * path of a delegation.
   */
  team(id: string): Promise<TeamLook>;

  answer(runId: string, answer: AnswerInput, options?: AnswerOptions): Promise<AnswerResult>;
  /** These four give back the message as it was sent. */
  pause(runId: string, message?: ControlMessage): Promise<ControlMessage>;
  resume(runId: string, message?: ResumeMessage): Promise<ResumeMessage>;
  /** Lets the parked runs of a tenant go on, but for those that a person has paused. Returns their ids. */
  resumeParked(tenant: string): Promise<readonly string[]>;
  stop(runId: string, message?: ControlMessage): Promise<ControlMessage>;
  amend(runId: string, message: AmendMessage): Promise<AmendMessage>;

  /** Defined in `consult`. */
  consult(input: ConsultationInput): Promise<ConsultationResult>;

  /** Defined in `evaluate`. */
  evaluate(input: EvaluationInput): Promise<StartedEvaluation>;

  /** Runs that the server starts by the clock. */
  readonly schedules: Schedules;

  /** Reads the end of a run, or null while it works. Works with every worker off. */
  result(runId: string): Promise<RunEnd | null>;
  /** Waits for the end, however long that takes. */
  waitForEnd(runId: string): Promise<RunEnd>;
}

export interface PlanwaveClientOptions extends ServerAddress {
  /** Default `planwave`. */
  readonly taskQueue?: string | undefined;
  /** Those of the worker; without any, nothing is encrypted, and what is encrypted can't be read. If undefined: those of PLANWAVE_KEYS. */
  readonly keys?: KeyRing | undefined;
  /** Interceptors of the SDK's client, such as those that trace. If undefined: none. */
  readonly interceptors?: readonly WorkflowClientInterceptor[] | undefined;
  /** In milliseconds: how long a worker may take for a query or update. If undefined: 5,000. */
  readonly workerTimeoutMs?: number | undefined;
  /** Taken out of what is sent, with all that looks like a secret. If undefined: those of this process's environment. */
  readonly secrets?: readonly string[] | undefined;
  /** Called before the sending with the number of secrets that are taken out, by rule. It never gets the secret. If undefined: not called. */
  readonly onRedacted?: ((rule: string, count: number) => void) | undefined;
}

export function createPlanwaveClient(options: PlanwaveClientOptions): PlanwaveClient {
  const context = createContext(options);
  const signal = async <T extends object>(name: string, runId: string, given: T): Promise<T> => {
    const message = context.redact(given);
    // A message without words may always be sent: whoever has no key can still stop a run.
    if (Object.keys(message).length > 0) await refusePlainText(context, runId);
    await callServer(context, runId, () =>
      context.workflows.getHandle(runId).signal(name, message),
    );
    return message;
  };
  const view = <T>(query: string, workflowId: string): Promise<Reading<T>> =>
    readView<T>(context, workflowId, query);
  return {
    address: context.address,
    namespace: context.namespace,
    startRun: (input, startOptions = {}) => startRun(context, input, startOptions),
    startTeam: (input, startOptions = {}) => startTeam(context, input, startOptions),
    list: (listOptions = {}) => listRuns(context, listOptions),
    describe: (runId) => describeRun(context, runId),
    longHistories: () => listLongHistories(context),
    lateNotifications: () => listLateNotifications(context),
    stuck: (runId) => (runId === undefined ? listStuck(context) : findStuck(context, runId)),
    storeWaits: (runId) => findStoreWaits(context, runId),
    openHistories: () => readOpenHistories(context),
    status: (runId) => readStatus(context, runId),
    usageNow: (status) => readUsageNow(context, status),
    questions: (runId) => view(queryNames.questions, runId),
    waves: (runId) => view(queryNames.wave, runId),
    waveView: (waveWorkflowId) => view(queryNames.wave, waveWorkflowId),
    delegation: (address) => readDelegation(context, address),
    stageCalls: (status) => readStageCalls(context, status),
    work: async (path) => (await findWork(context, path))?.status ?? null,
    team: (id) => readTeam(context, id),
    answer: (runId, answer, answerOptions = {}) =>
      submitAnswer(context, runId, answer, answerOptions),
    pause: (runId, message = {}) => signal(signalNames.pause, runId, message),
    resume: (runId, message = {}) => signal(signalNames.resume, runId, message),
    resumeParked: async (tenant) => {
      const resumed: string[] = [];
      for (const runId of await listParked(context, tenant)) {
        // One that has ended meanwhile needs no message.
        // oxlint-disable-next-line no-await-in-loop
        const sent = await ifOpen(signal(signalNames.resume, runId, { parked_only: true }));
        if (sent !== null) resumed.push(runId);
      }
      return resumed;
    },
    stop: (runId, message = {}) => signal(signalNames.stop, runId, message),
    amend: async (runId, message) => {
      refuseEvaluation(await describeRun(context, runId));
      return signal(signalNames.amend, runId, message);
    },
    consult: (input) => consult(context, input),
    evaluate: (input) => evaluate(context, input),
    schedules: createSchedules(context),
    result: async (runId) => {
      const run = await describeRun(context, runId);
      return run.execution === 'running' ? null : readRunEnd(context, runId, { wait: false });
    },
    waitForEnd: (runId) => readRunEnd(context, runId, { wait: true }),
  };
}

const outgoingSink = 'outgoing';

function readOwnKeys(): KeyRing {
  try {
    return readKeyRing(process.env['PLANWAVE_KEYS']);
  } catch (error) {
    if (!(error instanceof BadKeys)) throw error;
    const message = `PLANWAVE_KEYS can't be used: expected ${error.message}`;
    throw new PlanwaveClientError('bad_input', message);
  }
}

function createContext(options: PlanwaveClientOptions): ClientContext {
  const { connection, address, namespace, interceptors, onRedacted } = options;
  const keys = options.keys ?? readOwnKeys();
  const codec = createEncryptingCodec(keys, namespace);
  // Words stand for what it can't decrypt.
  const explaining = createEncryptingCodec(keys, namespace, explainFault);
  const redactor = createRedactor({
    secrets: options.secrets ?? collectOwnSecrets(process.env),
    onRedacted: (rule, _sink, count) => onRedacted?.(rule, count),
  });
  // Redacts, behind `redact`, what was not handed to it.
  const redacting = createRedactingCodec(redactor, outgoingSink);
  return {
    connection,
    address,
    namespace,
    codec,
    hasKeys: keys.ids.length > 0,
    taskQueue: options.taskQueue ?? taskQueue,
    workerTimeoutMs: options.workerTimeoutMs ?? 5_000,
    redact: (outgoing) => redactor.redactValue(outgoing, outgoingSink),
    workflows: new WorkflowClient({
      connection,
      namespace,
      dataConverter: { payloadCodecs: [redacting, codec] },
      ...(interceptors ? { interceptors: [...interceptors] } : {}),
    }),
    schedules: new ScheduleClient({
      connection,
      namespace,
      dataConverter: { payloadCodecs: [redacting, explaining] },
    }),
    lists: new WorkflowClient({
      connection,
      namespace,
      dataConverter: { payloadCodecs: [explaining] },
    }),
  };
}
