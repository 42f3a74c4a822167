import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordedCall } from '../../rehearsal/script.ts';
import { requestArrivesMs } from './interruption.ts';
import type { Interruption, InterruptionKind } from './interruption.ts';
import type { Lane } from './lane.ts';
import type { Prng } from '../support/prng.ts';
import { callersOf, readCallKey } from './call-name.ts';
import type { Blow } from './strike.ts';

export interface HarmerOptions {
  readonly lane: Lane;
  readonly runId: string;
  readonly random: Prng;
  /** Run ids of the workflows that have begun, by workflow id. */
  readonly runIds: ReadonlyMap<string, string>;
}

/** Steps before and after a blow. */
interface Around {
  /** Default: nothing. */
  readonly before?: () => Promise<unknown>;
  /** While nobody works. Default: nothing. */
  readonly whileAway?: () => Promise<unknown>;
}

/** Hurts the processes of a lane and heals them, one blow after the other, and keeps what each blow found. */
export class Harmer {
  readonly interruptions: Interruption[] = [];
  readonly #options: HarmerOptions;
  #current: Promise<void> | null = null;

  constructor(options: HarmerOptions) {
    this.#options = options;
  }

  /** Whether a blow is not healed yet. */
  get isHurt(): boolean {
    return this.#current !== null;
  }

  /** Resolves when no blow is left to heal. */
  async healed(): Promise<void> {
    while (this.#current !== null) await this.#current;
  }

  /** One blow and its healing, after those before it. */
  hurt(blow: Blow, kind: InterruptionKind, around: Around = {}): Promise<void> {
    const before = this.#current;
    const hurting = (async (): Promise<void> => {
      await before;
      await around.before?.();
      const atMs = Date.now();
      await this.#strikeDown(blow);
      // What the dead had sent may still be on its way to the model.
      if (blow.type !== 'pause') await sleep(requestArrivesMs);
      const unrecorded = await this.#unrecordedCalls();
      const inCall = this.calls().some(({ endedAtMs }) => endedAtMs === null || endedAtMs >= atMs);
      await around.whileAway?.();
      const readyAtMs = await this.#heal(blow);
      this.interruptions.push({ kind, atMs, readyAtMs, unrecorded, inCall });
    })();
    this.#current = hurting;
    const forget = (): void => {
      if (this.#current === hurting) this.#current = null;
    };
    hurting.then(forget, forget);
    return hurting;
  }

  /** The model calls of the run so far. */
  calls(): readonly RecordedCall[] {
    const { lane, runId } = this.#options;
    return lane.rehearsal.calls().filter(({ callKey }) => callKey.startsWith(`${runId}/`));
  }

  /** Whether the reply of a call is in the ledger. */
  async isRecorded(callKey: string): Promise<boolean> {
    const address = readCallKey(callKey);
    const { activityId } = address;
    const { lane, runIds } = this.#options;
    for (const workflowId of callersOf(address)) {
      const runId = runIds.get(workflowId);
      if (runId !== undefined) return lane.isRecorded({ workflowId, runId, activityId });
    }
    return false;
  }

  async #strikeDown({ type }: Blow): Promise<void> {
    const { lane } = this.#options;
    if (type === 'pause') {
      for (const worker of lane.workers) worker.signal('SIGSTOP');
      return;
    }
    const dying = [...lane.workers].map((worker) => lane.killWorker(worker));
    if (type === 'kill worker and server') await lane.server?.kill();
    await Promise.all(dying);
    lane.gate.open();
  }

  /** Resolves with the Unix epoch milliseconds at which somebody works again. */
  async #heal(blow: Blow): Promise<number> {
    const { lane, random } = this.#options;
    if (blow.type === 'pause') {
      const paused = [...lane.workers];
      const reliefAtMs = blow.relief ? await lane.startWorker() : null;
      await sleep(blow.ms);
      for (const worker of paused) worker.signal('SIGCONT');
      return reliefAtMs ?? Date.now();
    }
    await sleep(random.integer(0, 1_000));
    if (blow.type === 'kill worker and server') await lane.server?.restart();
    return lane.startWorker();
  }

  async #unrecordedCalls(): Promise<string[]> {
    const keys = [...new Set(this.calls().map(({ callKey }) => callKey))];
    const recorded = await Promise.all(keys.map((key) => this.isRecorded(key)));
    return keys.filter((_key, index) => recorded[index] !== true);
  }
}
