import type { ActivateInput, WorkflowInterceptors } from '@temporalio/workflow';

type Activation = Pick<
  ActivateInput['activation'],
  'jobs' | 'timestamp' | 'historyLength' | 'historySizeBytes'
>;

/**
 * Refuses a workflow task for which the workflow has already taken messages ahead, so that the task is done again from the
 * history.
 *
 * A query that waited while no worker was there brings the history up to now. A worker that does not have the workflow in
 * its cache hands all of it over before the query, also messages that no workflow task has taken yet, and keeps the
 * workflow (Core of `@temporalio/worker` 1.24). The task that comes next brings only what is newer. The history then has
 * the commands of two activations, a replay makes one of them, and may order its commands otherwise: the run would be stuck.
 *
 * A task that brings nothing newer reaches no workflow: its commands come from one activation, as in a replay.
 */
export function interceptors(): WorkflowInterceptors {
  const check = createTaskOrder();
  return {
    internals: [
      {
        activate(input, next) {
          check(input.activation);
          next(input);
        },
      },
    ],
  };
}

/** @returns a check of each activation of one workflow, which throws when a task follows on messages taken ahead. */
export function createTaskOrder(): (activation: Activation) => void {
  let last: { readonly task: string; readonly length: number } | null = null;
  let isAhead = false;
  return (activation) => {
    const { jobs } = activation;
    if (jobs?.every(({ queryWorkflow }) => queryWorkflow !== null && queryWorkflow !== undefined))
      return;
    const next = { task: taskOf(activation), length: activation.historyLength ?? 0 };
    // Each task begins with an event that says when, and how large the history is. Ahead of it, events come without one.
    if (next.task === last?.task) isAhead ||= next.length > last.length;
    else if (isAhead) throw new Error(takenAhead);
    last = next;
  };
}

export const takenAhead =
  'A query came before this workflow task, and has shown the workflow some of its messages. The task is done again from the history.';

/** Returns what tells two tasks of a workflow apart: when each was started, and how large the history was. */
function taskOf({ timestamp, historySizeBytes }: Activation): string {
  const { seconds, nanos } = timestamp ?? {};
  return [seconds, nanos, historySizeBytes].join(' ');
}
