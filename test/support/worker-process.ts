import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sharedWorker } from './shared-server.ts';
import type { Stage } from './stage.ts';

export const thisCheckout = fileURLToPath(new URL('../..', import.meta.url));

/** End of a process: `exit code 2`, or the signal. */
export type Ending = `exit code ${number}` | NodeJS.Signals;

export interface ScriptProcess {
  readonly pid: number;
  /** Returns standard output and standard error so far. */
  output(): string;
  /** Settles when the text has been printed. Rejects with the whole output when the process ends before. */
  printed(text: string): Promise<void>;
  /** Settles like `work`, which needs this process. Rejects with the whole output when the process ends before. */
  outlives<T>(what: string, work: Promise<T>): Promise<T>;
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ending>;
}

const running = new Set<ScriptProcess>();

/** Ends the processes that a test left running. For `afterEach`. */
export async function killProcesses(): Promise<void> {
  for (const one of running) one.signal('SIGKILL');
  await Promise.all([...running].map((one) => one.ended));
}

/**
 * Runs `planwave` as a process of its own, as npm does.
 *
 * @param env added to this process's environment without its settings of planwave, Temporal and the provider.
 * @param checkout that is run. Default: this one.
 */
export function runScript(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  checkout = thisCheckout,
): ScriptProcess {
  return runFile(join(checkout, 'scripts', 'planwave.mjs'), args, env);
}

function runFile(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): ScriptProcess {
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...neutralEnvironment(), ...env },
    // By the channel a worker notices that the test is gone, and ends.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  for (const stream of streams) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const ended = once(child, 'close').then((): Ending => {
    running.delete(self);
    return child.signalCode ?? `exit code ${child.exitCode ?? -1}`;
  });
  const outlives = <T>(what: string, work: Promise<T>): Promise<T> =>
    Promise.race([
      work,
      ended.then((how): never => {
        throw new Error(`${basename(file)} ended (${how}) before ${what}:\n${output}`);
      }),
    ]);
  const self: ScriptProcess = {
    pid: child.pid ?? -1,
    output: () => output,
    printed: (text) =>
      outlives(
        `it printed "${text}"`,
        new Promise((resolve) => {
          const look = (): void => {
            if (output.includes(text)) resolve();
          };
          for (const stream of streams) stream.on('data', look);
          look();
        }),
      ),
    outlives,
    signal: (signal) => void child.kill(signal),
    ended,
  };
  running.add(self);
  return self;
}

/** Properties of a stage that a worker process needs. */
type ServedStage = Pick<Stage, 'address' | 'taskQueue' | 'home' | 'rehearsal'>;

/** Returns the environment in which a worker process serves a stage. */
export function stageEnvironment(stage: ServedStage): Record<string, string> {
  return {
    TEMPORAL_ADDRESS: stage.address,
    PLANWAVE_TASK_QUEUE: stage.taskQueue,
    PLANWAVE_HOME: stage.home,
    ANTHROPIC_BASE_URL: stage.rehearsal.url,
    ANTHROPIC_API_KEY: 'rehearsal',
  };
}

/**
 * Starts a worker for the stage in a process of its own. Resolves when it polls.
 *
 * @param checkout whose sources the worker runs. If undefined, it runs the worker that was built for all tests of a run.
 */
export async function startWorkerProcess(
  stage: ServedStage,
  env: Readonly<Record<string, string>> = {},
  checkout?: string,
): Promise<ScriptProcess> {
  if (checkout === undefined) return startBuiltWorker(sharedWorker(), stage, env);
  const worker = runScript(['worker'], { ...stageEnvironment(stage), ...env }, checkout);
  await worker.printed('The worker polls');
  return worker;
}

/** Runs the worker that was built for all tests of a run, which ends as `planwave worker` does. */
export function runSharedWorker(env: Readonly<Record<string, string>>): ScriptProcess {
  return runFile(sharedWorker(), [], env);
}

/** Starts a worker for the stage from a file that `buildWorker` made. Resolves when it polls. */
export async function startBuiltWorker(
  file: string,
  stage: ServedStage,
  env: Readonly<Record<string, string>>,
): Promise<ScriptProcess> {
  const worker = runFile(file, [], { ...stageEnvironment(stage), ...env });
  await worker.printed('The worker polls');
  return worker;
}

/** Returns this process's environment without its settings of planwave, Temporal and the provider. */
export function neutralEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(?:ANTHROPIC|OTEL|PLANWAVE|TEMPORAL)_(?!CLI_PATH)/.test(name),
  );
  return Object.fromEntries(entries);
}
