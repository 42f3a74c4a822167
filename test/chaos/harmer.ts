import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { RecordedCall } from '../../rehearsal/script.ts';
import { untilRequestsArrive, wakesMs } from './interruption.ts';
import type { Interruption, InterruptionKind } from './interruption.ts';
import type { Lane } from './lane.ts';
import type { Prng } from '../support/prng.ts';
import type { CallSites } from './call-sites.ts';
import type { Blow } from './strike.ts';

export interface HarmerOptions {
  readonly lane: Lane;
  readonly runId: string;
  readonly random: Prng;
  readonly sites: CallSites;
}

/** Steps before and after a blow. */
interface Around {
  /** Default: nothing. */
  readonly before?: () => Promise<unknown>;
  /** While nobody works. Default: nothing. */
  readonly whileAway?: () => Promise<unknown>;
  /** Kind of a death whose durable write never came, so that the worker was killed without it. Default: the given kind. */
  readonly kindUnhit?: InterruptionKind;
}

function isHarmless({ type }: Blow): boolean {
  return type === 'flood' || type === 'fill the disk' || type === 'stop' || type === 'reset';
}

/** How long a fault point may take to be hit: a run that waits for a person writes nothing. */
const faultMsMax = 4_000;
/** Milliseconds that a worker which was hit at the last moment may take to note it. */
const noteMs = 200;

/** Hurts the processes of a lane and heals them, one blow after the other, and keeps what each blow found. */
export class Harmer {
  readonly interruptions: Interruption[] = [];
  readonly #options: HarmerOptions;
  #current: Promise<void> | null = null;
  #floodSignals = 0;

  constructor(options: HarmerOptions) {
    this.#options = options;
  }

  /** Whether a blow is not healed yet. */
  get isHurt(): boolean {
    return this.#current !== null;
  }

  get wasReset(): boolean {
    return this.interruptions.some(({ kind }) => kind === 'run reset');
  }

  /** Resolves when no blow is left to heal. */
  async healed(): Promise<void> {
    while (this.#current !== null) await this.#current;
  }

  /** Signals so far that the run has to refuse. */
  get floodSignals(): number {
    return this.#floodSignals;
  }

  /** One blow and its healing, after those before it, and the deaths while the run recovers from it. */
  hurt(blow: Blow, kind: InterruptionKind, around: Around = {}): Promise<void> {
    const before = this.#current;
    const hurting = (async (): Promise<void> => {
      await before;
      await around.before?.();
      await this.#hurtOnce(blow, kind, around);
      for (const ms of (blow.type === 'kill worker' ? blow.again : undefined) ?? []) {
        await sleep(ms);
        await this.#hurtOnce({ type: 'kill worker' }, 'worker killed while it recovered', {});
      }
    })();
    this.#current = hurting;
    const forget = (): void => {
      if (this.#current === hurting) this.#current = null;
    };
    hurting.then(forget, forget);
    return hurting;
  }

  async #hurtOnce(
    blow: Blow,
    kind: InterruptionKind,
    { whileAway, kindUnhit = kind }: Around,
  ): Promise<void> {
    const atMs = Date.now();
    const hasStruck = await this.#strikeDown(blow);
    // What has hurt nothing is no harm, and explains none.
    if (!hasStruck && isHarmless(blow)) return;
    // What the dead had sent may still be on its way to the model.
    if (blow.type !== 'pause') await untilRequestsArrive();
    const unrecorded = await this.#unrecordedCalls();
    const inCall = this.calls().some(({ endedAtMs }) => endedAtMs === null || endedAtMs >= atMs);
    await whileAway?.();
    const readyAtMs = await this.#heal(blow);
    // Tasks may have come to a worker that was stopped: its polls were open.
    if (blow.type === 'pause') await sleep(wakesMs);
    const late = blow.type === 'pause' ? await this.#unrecordedCalls() : [];
    const found = [...new Set([...unrecorded, ...late])];
    const done = hasStruck ? kind : kindUnhit;
    this.interruptions.push({ kind: done, atMs, readyAtMs, unrecorded: found, inCall });
  }

  /** The model calls of the run so far. */
  calls(): readonly RecordedCall[] {
    const { lane, runId } = this.#options;
    return lane.rehearsal.calls().filter(({ callKey }) => callKey.startsWith(`${runId}/`));
  }

  /** Whether the reply of a call is in the ledger. */
  async isRecorded(callKey: string): Promise<boolean> {
    const { lane, sites } = this.#options;
    const site = sites.newest(callKey);
    return site !== null && lane.isRecorded(site);
  }

  /** @returns false when nothing was hurt: a run that has ended, a disk that nothing was written to, a write that never came. */
  async #strikeDown(blow: Blow): Promise<boolean> {
    const { lane } = this.#options;
    let hasStruck = true;
    switch (blow.type) {
      case 'pause':
        for (const worker of lane.workers) worker.signal('SIGSTOP');
        return true;
      case 'flood':
        return this.#flood(blow.signals);
      case 'stop':
        return this.#stop();
      case 'reset':
        return this.#reset(blow.to);
      case 'fill the disk':
        return this.#orderFault({ what: 'full', nth: blow.nth });
      case 'die at a write':
        hasStruck = await this.#orderFault({ what: blow.what, nth: blow.nth });
        break;
      case 'kill worker':
      case 'kill worker and server':
    }
    const dying = [...lane.workers].map((worker) => lane.killWorker(worker));
    if (blow.type === 'kill worker and server') await lane.server?.kill();
    await Promise.all(dying);
    lane.gate.open();
    return hasStruck;
  }

  /**
   * Arms the fault points of the workers, and waits until one has died, or for `faultMsMax`.
   *
   * @returns whether one was hit
   */
  async #orderFault(order: { readonly what: string; readonly nth: number }): Promise<boolean> {
    const { faultFile } = this.#options.lane;
    const workers = [...this.#options.lane.workers];
    const notes = workers.map(({ pid }) =>
      order.what === 'full' ? `${faultFile}.full.${pid}` : `${faultFile}.${pid}`,
    );
    for (const note of notes) rmSync(note, { force: true });
    const untilMs = Date.now() + faultMsMax;
    writeFileSync(`${faultFile}.new`, JSON.stringify({ ...order, untilMs }));
    renameSync(`${faultFile}.new`, faultFile);
    const ends = workers.map((worker) => worker.ended);
    await Promise.race([...ends, sleep(faultMsMax + noteMs)]);
    rmSync(faultFile, { force: true });
    return notes.some((note) => existsSync(note));
  }

  /** @returns false when the run has ended. */
  async #stop(): Promise<boolean> {
    const { lane, runId } = this.#options;
    try {
      await lane.client.workflow.getHandle(runId).signal('stop', {});
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  async #flood(signals: number): Promise<boolean> {
    const { lane, runId } = this.#options;
    const run = lane.client.workflow.getHandle(runId);
    const long = 'z'.repeat(2_000);
    const send = [
      () => run.signal('answer', { question_id: 'q999', answer: long }),
      () => run.signal(`no-such-signal-${long.slice(0, 100)}`, long),
      () => run.signal('amend', { instruction: 5 }),
      () => run.signal('escalate', { type: 'parked', from: runId, reason: long }),
    ];
    const sent = await Promise.allSettled(
      Array.from({ length: signals }, async (_one, nth) => send[nth % send.length]?.()),
    );
    const taken = sent.filter(({ status }) => status === 'fulfilled').length;
    this.#floodSignals += taken;
    return taken > 0;
  }

  /** @returns false when the run has ended, or has done nothing that could be taken back. */
  async #reset(to: number): Promise<boolean> {
    const { lane, runId } = this.#options;
    const run = lane.client.workflow.getHandle(runId);
    const { events } = await run.fetchHistory();
    const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
    const task = tasks[Math.round(to * (tasks.length - 1))];
    const { status, runId: execution } = await run.describe();
    if (task === undefined || status.name !== 'RUNNING') return false;
    await lane.client.connection.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: runId, runId: execution },
      workflowTaskFinishEventId: task.eventId ?? null,
      requestId: randomUUID(),
      reason: 'the campaign',
    });
    return true;
  }

  /** Resolves with the Unix epoch milliseconds at which somebody works again. */
  async #heal(blow: Blow): Promise<number> {
    const { lane, random } = this.#options;
    if (blow.type === 'pause') return this.#wake(blow);
    if (isHarmless(blow)) return Date.now();
    await sleep(random.integer(0, 300));
    if (blow.type === 'kill worker and server') await lane.server?.restart();
    return lane.startWorker(blow.type === 'kill worker' ? blow : {});
  }

  async #wake({ ms, relief }: Extract<Blow, { type: 'pause' }>): Promise<number> {
    const { lane } = this.#options;
    const paused = [...lane.workers];
    const reliefAtMs = relief ? await lane.startWorker() : null;
    await sleep(ms);
    for (const worker of paused) worker.signal('SIGCONT');
    return reliefAtMs ?? Date.now();
  }

  async #unrecordedCalls(): Promise<string[]> {
    const keys = [...new Set(this.calls().map(({ callKey }) => callKey))];
    const recorded = await Promise.all(keys.map((key) => this.isRecorded(key)));
    return keys.filter((_key, index) => recorded[index] !== true);
  }
}
