import { EventEmitter, once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { CallCounts, CallOutcome, CallPlace, RecordedCall } from './script.ts';

interface ArrivedCall extends CallPlace {
  readonly callKey: string;
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
}

export interface OpenCall {
  /** Number of the call, from 1. */
  readonly index: number;
  /** Says which script rule answers. */
  answeredBy(rule: number | null): void;
  /** Says which status was sent. */
  replied(status: number): void;
  /** Ends the call. Only the first time counts. */
  end(outcome: CallOutcome): void;
}

const secretHeaders = new Set(['x-api-key', 'authorization', 'proxy-authorization', 'cookie']);

const noCounts: CallCounts = { calls: 0, ended: 0, inFlight: 0, maxInFlight: 0 };

function withoutSecrets(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !secretHeaders.has(name))
      .map(([name, value]) => [name, String(value)]),
  );
}

/** The calls since the server started or was reset. */
export class CallLog {
  readonly #keepsCalls: boolean;
  readonly #changes = new EventEmitter().setMaxListeners(0);
  readonly #open = new Set<OpenCall>();
  #calls: RecordedCall[] = [];
  #counts = noCounts;
  /** Grows with every reset, so that calls from before it no longer count. */
  #generation = 0;

  /** @param keepsCalls false to count only: a server that runs for weeks must not keep every prompt. */
  constructor(keepsCalls: boolean) {
    this.#keepsCalls = keepsCalls;
  }

  open({ headers, ...call }: ArrivedCall): OpenCall {
    const { calls, inFlight, maxInFlight } = this.#counts;
    const index = calls + 1;
    this.#counts = {
      ...this.#counts,
      calls: index,
      inFlight: inFlight + 1,
      maxInFlight: Math.max(maxInFlight, inFlight + 1),
    };
    if (this.#keepsCalls) {
      this.#calls.push({
        index,
        ...call,
        headers: withoutSecrets(headers),
        rule: null,
        startedAtMs: Date.now(),
        endedAtMs: null,
        outcome: null,
        replyStatus: null,
      });
    }
    const handle = this.#createHandle(index);
    this.#open.add(handle);
    this.#changes.emit('change');
    return handle;
  }

  #createHandle(index: number): OpenCall {
    const generation = this.#generation;
    const isCurrent = (): boolean => this.#open.has(handle) && generation === this.#generation;
    const update = (fields: Partial<RecordedCall>): void => {
      const call = this.#calls[index - 1];
      if (call !== undefined && isCurrent()) this.#calls[index - 1] = { ...call, ...fields };
    };
    const handle: OpenCall = {
      index,
      answeredBy: (rule) => update({ rule }),
      replied: (replyStatus) => update({ replyStatus }),
      end: (outcome) => {
        update({ outcome, endedAtMs: Date.now() });
        const counts = isCurrent();
        this.#open.delete(handle);
        if (counts) this.#countEnd();
      },
    };
    return handle;
  }

  #countEnd(): void {
    const { ended, inFlight } = this.#counts;
    this.#counts = { ...this.#counts, ended: ended + 1, inFlight: inFlight - 1 };
    this.#changes.emit('change');
  }

  /** The recorded calls in the order of arrival; a copy. */
  calls(): readonly RecordedCall[] {
    return [...this.#calls];
  }

  counts(): CallCounts {
    return this.#counts;
  }

  /**
   * Resolves when at least so many calls have arrived or have ended.
   * Rejects with an AbortError when `signal` is aborted first.
   */
  async waitFor(
    count: number,
    state: 'arrived' | 'ended',
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const reached = (): number => (state === 'ended' ? this.#counts.ended : this.#counts.calls);
    while (reached() < count) {
      await once(this.#changes, 'change', signal === undefined ? {} : { signal });
    }
  }

  /** Ends all calls in flight as cut, because the server goes. */
  cutAll(): void {
    for (const call of this.#open) call.end('cut');
  }

  /** Forgets everything. Calls in flight go on and end unseen. */
  clear(): void {
    this.#generation += 1;
    this.#calls = [];
    this.#counts = noCounts;
  }
}
