import { ApplicationFailure, condition } from '@temporalio/workflow';
import type { UpdateRecordResult } from '../../contracts/activity-types.ts';
import type { RecordedResult, RecordChange } from '../../contracts/run-record.ts';
import type { RunKnowledge } from '../../contracts/planner-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import { engineLimits } from '../../core/limits.ts';
import { takeChanges } from '../../core/run/news.ts';
import { updateRecord } from './activities.ts';
import { nowSeconds } from './clock.ts';
import type { Control } from './control.ts';
import { inBackground } from './background.ts';
import { untilDone } from './failures.ts';
import type { Fact } from '../../contracts/agent-output.ts';

/** The only writer of a run's record. Changes during a write are sent together with the next one, as far as they fit. */
export interface RecordKeeper {
  /** Sets the present record. Changes that were queued before are written after it. */
  begin(start: RecordStart): void;
  knownInputs(): readonly string[];
  /** Returns delegation_ids that may be redone. */
  stale(): readonly string[];
  factsTotal(): number;
  facts(): readonly Fact[];
  /** Returns the answer and the final files, once the record has them. */
  result(): RecordedResult | null;
  /** Queues a change. Never throws; the write is retried until it succeeds. */
  add(change: RecordChange): void;
  /** Resolves with the newest reference when everything queued is written. */
  flush(): Promise<Ref>;
}

export interface RecordStart extends Pick<
  RunKnowledge,
  'record_ref' | 'known_inputs' | 'stale' | 'facts_total'
> {
  readonly facts: readonly Fact[];
}

interface RecordKeeperOptions {
  readonly runId: string;
  /** Parks when the store refuses for good; after a resume the write is repeated. */
  readonly control: Control;
  readonly onWritten: () => void;
}

export function createRecordKeeper(options: RecordKeeperOptions): RecordKeeper {
  const { control } = options;
  let latest: UpdateRecordResult | null = null;
  let queue: RecordChange[] = [];
  let writing = false;
  let facts: readonly Fact[] = [];

  const write = (from: Ref, changes: readonly RecordChange[]): Promise<UpdateRecordResult> =>
    untilDone(
      () =>
        updateRecord.executeWithOptions({ summary: summariseChanges(changes) }, [
          { run_id: options.runId, record_ref: from, changes, now: nowSeconds() },
        ]),
      async (reason) => {
        control.park(reason);
        await control.ready();
      },
    );

  inBackground(async () => {
    for (;;) {
      // Conditions are evaluated at the end of a workflow task, so the changes of one task are sent together.
      await condition(() => latest !== null && queue.length > 0);
      if (latest === null) continue;
      const { record_ref, result } = latest;
      const changes = takeChanges(queue);
      queue = queue.slice(changes.length);
      writing = true;
      const written = await write(record_ref, changes);
      // The end stays, also when a run that parked at its last write records that it has gone on.
      latest = { ...written, result: written.result ?? result };
      writing = false;
      facts = [...facts, ...latest.facts_added].slice(-engineLimits.factsCarriedMax);
      options.onWritten();
    }
  });

  const keeper: RecordKeeper = {
    begin(start) {
      const { facts: known, ...rest } = start;
      facts = known;
      latest = { ...rest, facts_added: [], result: null };
    },
    knownInputs: () => latest?.known_inputs ?? [],
    stale: () => latest?.stale ?? [],
    factsTotal: () => latest?.facts_total ?? 0,
    facts: () => facts,
    result: () => latest?.result ?? null,
    add(change) {
      queue.push(change);
    },
    async flush() {
      await condition(() => !writing && queue.length === 0 && latest !== null);
      if (latest === null) throw ApplicationFailure.nonRetryable('The record was not begun.');
      return latest.record_ref;
    },
  };
  recordStanding(control, keeper);
  return keeper;
}

/**
 * Records that the run stands still, and that it goes on: `shared_status.json` shows it, also without a worker. What changes
 * and changes back within one task is not recorded.
 */
function recordStanding(control: Control, record: RecordKeeper): void {
  const standing = (): 'parked' | 'paused' | 'working' => {
    if (control.parkedReason() !== null) return 'parked';
    return control.pausedReason() === null ? 'working' : 'paused';
  };
  let recorded = standing();
  inBackground(async () => {
    for (;;) {
      await condition(() => standing() !== recorded);
      recorded = standing();
      // A record that has its result is closed.
      if (record.result() === null) record.add({ type: 'phase', phase: recorded });
    }
  });
}

/** Summarises changes for the Web UI. */
function summariseChanges(changes: readonly RecordChange[]): string {
  return changes
    .map((change) => change.type.replaceAll('_', ' '))
    .join(', ')
    .slice(0, 120);
}
