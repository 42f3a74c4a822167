import type { History } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import type { ReplayResult } from '@temporalio/worker';
import type { WorkflowBundle } from './bundle-workflows.ts';
import { loadWorkflowBundle } from './bundle-workflows.ts';
import { tolerantCodec } from './tolerant-codec.ts';

export interface RecordedWorkflow {
  readonly workflowId: string;
  readonly history: History;
}

export interface ReplayedWorkflow {
  readonly workflowId: string;
  /** Why the code of this checkout can't carry it on, in one line, or null. */
  readonly fault: string | null;
}

/**
 * Replays histories on the code of this checkout, one after the other: there is one in memory at a time. Nothing of
 * what they did is done again.
 *
 * @param workflowBundle If undefined: this checkout's, as `loadWorkflowBundle` gives it.
 */
export async function* replayHistories(
  histories: AsyncIterable<RecordedWorkflow> | Iterable<RecordedWorkflow>,
  workflowBundle?: WorkflowBundle,
): AsyncIterableIterator<ReplayedWorkflow> {
  const results = Worker.runReplayHistories(
    {
      workflowBundle: workflowBundle ?? (await loadWorkflowBundle()),
      dataConverter: { payloadCodecs: [tolerantCodec] },
      // A traced bundle hands its spans to nobody here.
      sinks: { exporter: { export: { fn: () => {} } } },
    },
    histories,
  );
  for await (const { workflowId, error } of results) {
    yield { workflowId, fault: error === undefined ? null : describeFault(error) };
  }
}

/** The SDK wraps what went wrong in the debug print of a Rust structure. */
function describeFault({ message }: NonNullable<ReplayResult['error']>): string {
  const [, quoted] = /message: ("(?:[^"\\]|\\.)*")/.exec(message) ?? [];
  return quoted === undefined ? message : unquote(quoted);
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    // Rust escapes some characters in ways that JSON does not know.
    return quoted.slice(1, -1);
  }
}
