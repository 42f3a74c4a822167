import type { WorkflowInterceptors } from '@temporalio/workflow';

/**
 * Names with this prefix belong to the SDK. A signal that carries one fails the workflow task of every workflow with a
 * default handler (`signalWorkflow` of `@temporalio/workflow` 1.24), and Temporal delivers the signal again with each
 * task, so one signal would end the run.
 */
const reservedPrefix = '__temporal_';

/** The prefix under which the SDK hands a reserved name to the default handler. */
const escapeMark = 'reserved:';

/**
 * Renames signals with a reserved name before the SDK looks at them. The default handler then records them like every
 * unknown signal. This is an interceptor of the activation and not of the signal, because the SDK skips the latter for
 * reserved names. It is synchronous, so existing histories replay.
 */
export function interceptors(): WorkflowInterceptors {
  return {
    internals: [
      {
        activate(input, next) {
          for (const { signalWorkflow } of input.activation.jobs ?? []) {
            if (signalWorkflow?.signalName?.startsWith(reservedPrefix) === true) {
              signalWorkflow.signalName = `${escapeMark}${signalWorkflow.signalName}`;
            }
          }
          next(input);
        },
      },
    ],
  };
}

/** Returns the name as its sender wrote it. */
export function sentSignalName(received: string): string {
  return received.startsWith(`${escapeMark}${reservedPrefix}`)
    ? received.slice(escapeMark.length)
    : received;
}
