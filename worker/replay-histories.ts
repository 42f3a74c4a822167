import type { History } from '@temporalio/common/lib/proto-utils.js';
import {
  DefaultLogger,
  Runtime,
  Worker,
  type ReplayResult,
  type ReplayWorkerOptions,
  type WorkerOptions,
} from '@temporalio/worker';
import { createEncryptingCodec } from '../encryption/encrypting-codec.ts';
import { readKeyRing, type KeyRing } from '../encryption/key-ring.ts';
import { loadWorkflowBundle, type WorkflowBundle } from './bundle-workflows.ts';
import { tolerantCodec } from './tolerant-codec.ts';
import { isTraced } from './part-settings.ts';

export interface RecordedWorkflow {
  readonly workflowId: string;
  readonly history: History;
}

/** Reading of histories that were written with keys. */
export interface ReplayKeys {
  readonly keys: KeyRing;
  /** Namespace of the histories. */
  readonly namespace: string;
}

const noKeys: ReplayKeys = { keys: readKeyRing(undefined), namespace: 'default' };

export interface ReplayedWorkflow {
  readonly workflowId: string;
  /** Reason in one line why the code of this checkout can't continue it, or null. */
  readonly fault: string | null;
}

/**
 * Replays histories on the code of this checkout, one at a time to save memory. No activity is repeated.
 *
 * @param workflowBundle If undefined, this checkout's, from `loadWorkflowBundle`.
 * @param keys Default: nothing is encrypted.
 */
export async function* replayHistories(
  histories: AsyncIterable<RecordedWorkflow> | Iterable<RecordedWorkflow>,
  workflowBundle?: WorkflowBundle,
  { keys, namespace } = noKeys,
): AsyncIterableIterator<ReplayedWorkflow> {
  const options: ReplayWorkerOptions & Pick<WorkerOptions, 'debugMode'> = {
    workflowBundle: workflowBundle ?? (await loadWorkflowBundle()),
    dataConverter: { payloadCodecs: [tolerantCodec, createEncryptingCodec(keys, namespace)] },
    // Otherwise the SDK replays in the caller's thread, where its hook then runs for every promise of the process, and
    // costs more than the replay.
    debugMode: false,
    // Spans of a traced bundle are dropped here.
    sinks: { exporter: { export: { fn: () => {} } } },
  };
  const results = Worker.runReplayHistories(options, histories);
  for await (const { workflowId, error } of results) {
    yield { workflowId, fault: error === undefined ? null : describeFault(error) };
  }
}

/** Extracts the message, which the SDK wraps in the debug output of a Rust structure. */
function describeFault({ message }: NonNullable<ReplayResult['error']>): string {
  const [, quoted] = /message: ("(?:[^"\\]|\\.)*")/.exec(message) ?? [];
  return quoted === undefined ? message : unquote(quoted);
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    // Rust escapes some characters differently from JSON.
    return quoted.slice(1, -1);
  }
}

/** Replays like `replayHistories`, without the SDK's log: the result reports every fault. */
export async function* replayQuietly(
  histories: AsyncIterable<RecordedWorkflow>,
  replayKeys: ReplayKeys,
): AsyncIterableIterator<ReplayedWorkflow> {
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => {}),
    telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
    shutdownSignals: [],
  });
  const bundle = await loadWorkflowBundle({
    traced: isTraced(process.env),
    encrypted: replayKeys.keys.ids.length > 0,
  });
  yield* replayHistories(histories, bundle, replayKeys);
}
