import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { z } from 'zod';
import {
  detectChanges,
  toRunEndedEvent,
  type FollowEvent,
} from '../client/cli/follow/follow-event.ts';
import { createSnapshotReader, type RunSnapshot } from '../client/cli/follow/read-snapshot.ts';
import { checkInput } from '../client/check-input.ts';
import { loadServerConfig, openConnection, taskQueueOf } from '../client/connect.ts';
import { persist } from '../client/persist.ts';
import { checkRunId } from '../client/start-run.ts';
import { createPlanwaveClient, type PlanwaveClient } from '../client/planwave-client.ts';
import type { ControlMessage } from '../contracts/messages.ts';
import { PlannerRunInput, type PlannerRunResult } from '../contracts/planner-run.ts';
import type { AnswerResult } from '../client/submit-answer.ts';
import { isRecord } from '../core/json.ts';
import { checkOptions, writeAgents, type Agent } from './define-agent.ts';
import { describeSchema, readAnswer, readWhole } from './typed-answer.ts';

export interface PlanwaveOptions {
  /**
   * Default: made of the `TEMPORAL_*` variables (address, API key, TLS) and Temporal's configuration file, as for command line
   * and worker; else `localhost:7233`.
   */
  readonly connection?: Connection;
  /** Default: `TEMPORAL_NAMESPACE`, else `default`. */
  readonly namespace?: string;
  /** Home of the worker on this machine. Default: `PLANWAVE_HOME`, else `.planning` in the current folder. */
  readonly home?: string;
  /** Default: `PLANWAVE_TASK_QUEUE`, else `planwave`. */
  readonly taskQueue?: string;
}

const optionNames = [
  'connection',
  'namespace',
  'home',
  'taskQueue',
] as const satisfies readonly (keyof PlanwaveOptions)[];

/** Settings of a run: the fields of the workflow's input (docs/messages.md), and these. */
export interface StartOptions<S extends z.ZodType | undefined = undefined> extends Omit<
  PlannerRunInput,
  'goal' | 'agents_dir'
> {
  /** Default: made of the goal's first words and the time. */
  readonly run_id?: string;
  /** Agents of `defineAgent`, or a folder on the worker's machine; they are added to the shipped ones. */
  readonly agents?: readonly Agent[] | string;
  /** Schema of the answer. Default: the answer is Markdown. */
  readonly result?: S;
}

/** End of a run. */
export interface RunOutcome<T> {
  /** `completed`, `finished_unmet`, `stopped`, `abandoned`, or how its workflow was closed. */
  readonly status: string;
  readonly reason: string;
  /** Markdown. More than 20,000 characters only if `result.md` is below the home on this machine; else it is cut. */
  readonly answer: string;
  /** The answer by the schema; undefined without a schema, and for a run that is not completed. */
  readonly value: T;
  /** Null when the workflow ended without a result. */
  readonly result: PlannerRunResult | null;
}

/** Run that was started or found. Iterating over it yields its events until it ends. */
export interface PlanwaveRun<T> extends AsyncIterable<FollowEvent> {
  readonly run_id: string;
  /** Waits for the end. @throws {UnfitAnswer} when a completed run's answer does not fit the schema */
  result(): Promise<RunOutcome<T>>;
  /** Answers one open question. */
  answer(questionId: string, answer: string): Promise<AnswerResult>;
  pause(reason?: string): Promise<void>;
  resume(reason?: string): Promise<void>;
  /** Ends the run with the work done so far. */
  stop(reason?: string): Promise<void>;
}

export interface Planwave {
  /** Everything else that can be asked of runs. */
  readonly client: PlanwaveClient;
  /**
   * Starts a run. A run id that was ever used is refused.
   *
   * @throws {PlanwaveClientError} `bad_input`, before anything is written or sent, with every wrong field and value
   */
  start<S extends z.ZodType | undefined = undefined>(
    goal: string,
    options?: StartOptions<S>,
  ): Promise<PlanwaveRun<ValueOf<S>>>;
  /** Returns a run that was started before, by whatever program. */
  open(runId: string): PlanwaveRun<undefined>;
  /** Closes the connection, unless it was given. */
  close(): Promise<void>;
}

type ValueOf<S> = S extends z.ZodType ? z.output<S> | undefined : undefined;

const pollEveryMs = 500;

/** Everything that `start` takes, by name. */
const StartInput = PlannerRunInput.omit({ agents_dir: true }).extend({
  run_id: z.string('expected a text. Try: market-research').optional(),
  agents: z
    .custom(isAgents, 'expected agents of defineAgent, or the path of a folder with agents')
    .refine((agents) => findTwin(agents) === null, {
      error: ({ input }) =>
        `"${findTwin(input)}" is the name of two agents, expected a name of its own for each. Try: another name for one of them`,
    })
    .optional(),
  result: z
    .instanceof(z.core.$ZodType, { error: 'expected a schema of zod 4. Try: z.object({ … })' })
    .optional(),
});

function isAgents(value: unknown): boolean {
  if (!Array.isArray(value)) return typeof value === 'string' && value !== '';
  return value.every(isAgent);
}

function isAgent(one: unknown): one is Agent {
  return isRecord(one) && typeof one['name'] === 'string' && typeof one['text'] === 'string';
}

/** Returns a name that two agents have, whose files would be one; null when there is none. */
function findTwin(agents: unknown): string | null {
  if (!Array.isArray(agents)) return null;
  const names = agents.filter(isAgent).map((agent) => agent.name);
  return names.find((one, at) => names.indexOf(one) < at) ?? null;
}

/**
 * Connects to planwave: starts runs on workers that run elsewhere, or in this process by `createWorker`. The connection is
 * made at the first use.
 *
 * @throws {TypeError} that names an unknown option
 */
export function createPlanwave(options: PlanwaveOptions = {}): Planwave {
  checkOptions('createPlanwave', options, optionNames);
  const { connection, address, namespace } = connect(options);
  const home = resolve(options.home ?? (process.env['PLANWAVE_HOME'] || '.planning'));
  const client = createPlanwaveClient({
    connection,
    address,
    namespace,
    taskQueue: options.taskQueue ?? taskQueueOf(process.env),
  });
  return {
    client,
    async start(goal, given = {}) {
      checkInput(StartInput, { goal, ...given }, { of: 'run' });
      const { run_id, agents, result: schema, ...input } = given;
      if (run_id !== undefined) checkRunId(run_id);
      const constraints = [
        ...(input.constraints ?? []),
        ...(schema === undefined ? [] : [describeSchema(schema)]),
      ];
      const agents_dir = await placeAgents(home, agents);
      const started = await client.startRun(
        {
          ...input,
          goal,
          ...(constraints.length > 0 && { constraints }),
          ...(agents_dir !== undefined && { agents_dir: resolve(agents_dir) }),
        },
        { run_id },
      );
      return openRun(client, home, started.run_id, schema);
    },
    open: (runId) => openRun(client, home, runId, undefined),
    close: async () => {
      if (options.connection === undefined) await connection.close();
    },
  };
}

/** Returns the folder of a run's own agents; undefined when it has none. */
async function placeAgents(
  home: string,
  agents: StartOptions['agents'] = [],
): Promise<string | undefined> {
  if (typeof agents === 'string') return agents;
  return agents.length === 0 ? undefined : writeAgents(home, agents);
}

function connect(options: PlanwaveOptions): {
  readonly connection: Connection;
  readonly address: string;
  readonly namespace: string;
} {
  const config = loadServerConfig(
    options.namespace === undefined ? {} : { namespace: options.namespace },
  );
  const { connection } = options;
  const address = connection?.options.address ?? config.address;
  return { connection: connection ?? openConnection(config), address, namespace: config.namespace };
}

function openRun<T>(
  client: PlanwaveClient,
  home: string,
  runId: string,
  schema: z.ZodType | undefined,
): PlanwaveRun<T> {
  return {
    run_id: runId,
    [Symbol.asyncIterator]: () => tellUntilEnd(client, home, runId),
    async result() {
      const end = await client.waitForEnd(runId);
      const event = toRunEndedEvent(await client.describe(runId), end, home);
      const { status, reason, result } = event;
      const answer = await readWhole(event.answer, event.result_path);
      const isTyped = schema !== undefined && status === 'completed';
      const value = isTyped ? readAnswer(runId, answer, schema) : undefined;
      // Only a schema makes a value, and then it has the schema's type.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return { status, reason, answer, value: value as T, result };
    },
    answer: (question_id, answer) => client.answer(runId, { question_id, answer }),
    pause: async (reason) => void (await client.pause(runId, message(reason))),
    resume: async (reason) => void (await client.resume(runId, message(reason))),
    stop: async (reason) => void (await client.stop(runId, message(reason))),
  };
}

function message(reason: string | undefined): ControlMessage {
  return reason === undefined ? {} : { reason };
}

/** Yields each change of a run, survives lost connections, and ends with the event `ended`. */
async function* tellUntilEnd(
  client: PlanwaveClient,
  home: string,
  runId: string,
): AsyncGenerator<FollowEvent, void> {
  const reader = createSnapshotReader(client, runId);
  const { signal } = new AbortController();
  const options = { everyMs: pollEveryMs, address: client.address, signal };
  let before: RunSnapshot | null = null;
  for (;;) {
    const snapshot: RunSnapshot = yield* name(
      runId,
      persist(() => reader.read(), options),
    );
    yield* detectChanges(before, snapshot);
    before = snapshot;
    if (snapshot.run.execution !== 'running') {
      const end = yield* name(
        runId,
        persist(() => client.result(runId), options),
      );
      if (end !== null) {
        yield toRunEndedEvent(snapshot.run, end, home);
        return;
      }
    }
    await sleep(pollEveryMs);
  }
}

/** Adds the run to notices about the watching. */
async function* name<T>(
  run_id: string,
  work: AsyncGenerator<{ readonly type: 'notice'; readonly text: string }, T>,
): AsyncGenerator<FollowEvent, T> {
  for (;;) {
    const next = await work.next();
    if (next.done === true) return next.value;
    yield { ...next.value, run_id };
  }
}
