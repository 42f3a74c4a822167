import { defaultPayloadConverter, defineSignal } from '@temporalio/workflow';
import type { ActivateInput, WorkflowInterceptors } from '@temporalio/workflow';
import { createTokenCheck } from './run-token.ts';
import type { TokenCheck } from './run-token.ts';

/**
 * Names with this prefix belong to the SDK. A signal that carries one fails the workflow task of every workflow with a
 * default handler (`signalWorkflow` of `@temporalio/workflow` 1.24), and Temporal delivers the signal again with each
 * task, so one signal would end the run.
 */
const reservedPrefix = '__temporal_';

/** The prefix under which the SDK hands a reserved name to the default handler. */
const escapeMark = 'reserved:';

/** The signal as which a flood reaches its handler: the flooded signals, then their arguments. No one can send it. */
const floodName = 'planwave-flood';
export const floodSignal = defineSignal<[readonly FloodedSignal[], ...unknown[]]>(floodName);

/**
 * Number of people's signals in one activation from which on those without another job between them are handed over
 * together. Changing it changes how histories with a flood replay.
 */
const floodSignalsMin = 100;

type Jobs = NonNullable<ActivateInput['activation']['jobs']>;
type Signal = NonNullable<Jobs[number]['signalWorkflow']>;
type Stretch = [Jobs[number], ...Jobs];

export interface FloodedSignal {
  readonly name: string;
  readonly argsCount: number;
}

/**
 * Receives the signals of an activation before the SDK does.
 *
 * - Signals with a reserved name are renamed. The default handler then records them like every unknown signal. This is
 *   an interceptor of the activation, because the SDK skips the interceptor of the signal for reserved names.
 * - A part of a run takes no signal without the run's token, so these are dropped. The SDK would keep those that have no handler.
 * - The topmost workflow gets a flood as one signal, or as one before, between and after the messages of its children.
 *   For each signal the SDK makes about ten promises, each with a stack trace, and evaluates all conditions: about a
 *   millisecond. The SDK interrupts an activation after 5 s, and if a promise is interrupted, Node ends the process
 *   ("async hook stack has become corrupted").
 *
 * All of it is synchronous: an activation without such signals takes the same steps as without this interceptor.
 */
export function interceptors(): WorkflowInterceptors {
  const token = createTokenCheck();
  return {
    inbound: [token.inbound],
    outbound: [token.outbound],
    internals: [
      {
        activate(input, next) {
          const { activation } = input;
          const jobs = activation.jobs ?? [];
          for (const { signalWorkflow } of jobs) {
            const name = signalWorkflow?.signalName ?? '';
            if (isReserved(name))
              Object.assign(signalWorkflow ?? {}, { signalName: `${escapeMark}${name}` });
          }
          learnAtStart(jobs, token);
          activation.jobs = token.isTopmost() ? joinFlood(jobs, token) : dropForged(jobs, token);
          next(input);
        },
      },
    ],
  };
}

/** Returns the name as its sender wrote it. */
export function sentSignalName(received: string): string {
  const name = received.slice(escapeMark.length);
  return received.startsWith(escapeMark) && isReserved(name) ? name : received;
}

function isReserved(name: string): boolean {
  return name.startsWith(reservedPrefix) || name === floodName;
}

/** Splits the arguments of the signal that stands for a flood. */
export function splitFlood(
  signals: readonly FloodedSignal[],
  args: readonly unknown[],
): { readonly name: string; readonly payload: unknown }[] {
  let begin = 0;
  return signals.map(({ name, argsCount }) => {
    begin += argsCount;
    return { name, payload: argsCount === 0 ? undefined : args[begin - argsCount] };
  });
}

/**
 * Joins each stretch of signals between two jobs of another kind for itself. Every job keeps its place: an answer must
 * not overtake the escalation of a child that opens its question.
 */
function joinFlood(jobs: Jobs, token: TokenCheck): Jobs {
  const flooded = jobs.map(
    ({ signalWorkflow: signal }) => isSignal(signal) && !token.isStamped(signal.headers ?? {}),
  );
  if (flooded.filter(Boolean).length < floodSignalsMin) return jobs;
  const stretches: Stretch[] = [];
  for (const [index, job] of jobs.entries()) {
    const stretch = flooded[index] && flooded[index - 1] ? stretches.at(-1) : undefined;
    if (stretch === undefined) stretches.push([job]);
    else stretch.push(job);
  }
  return stretches.map(joinStretch);
}

/** Joins two or more signals. A single job of any kind stays as it is. */
function joinStretch([first, ...others]: Stretch): Jobs[number] {
  if (others.length === 0) return first;
  const signals = [first, ...others].flatMap(({ signalWorkflow }) => signalWorkflow ?? []);
  const names = signals.map(({ signalName, input }): FloodedSignal => ({
    name: signalName ?? '',
    argsCount: input?.length ?? 0,
  }));
  const args = signals.flatMap((signal) => signal.input ?? []);
  Object.assign(first.signalWorkflow ?? {}, {
    signalName: floodName,
    headers: {},
    input: [defaultPayloadConverter.toPayload(names), ...args],
  });
  return first;
}

function isSignal(signal: Jobs[number]['signalWorkflow']): signal is Signal {
  return signal !== null && signal !== undefined;
}

function dropForged(jobs: Jobs, token: TokenCheck): Jobs {
  return jobs.filter(
    ({ signalWorkflow: signal }) => !isSignal(signal) || token.isStamped(signal.headers ?? {}),
  );
}

/** Children of the execution before this one may have sent signals that come with the start. */
function learnAtStart(jobs: Jobs, token: TokenCheck): void {
  const [started] = jobs.flatMap(({ initializeWorkflow }) => initializeWorkflow ?? []);
  if (started !== undefined) token.learn(started.headers ?? {});
}
