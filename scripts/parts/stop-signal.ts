/** Requests to stop, by Ctrl-C or `kill`. */
export interface StopSignal {
  /** Settles at the first signal. */
  readonly asked: Promise<void>;
  /** Settles at a second signal: do not wait for work in progress. */
  readonly insisted: Promise<void>;
  /** Stops listening. */
  dispose(): void;
}

/**
 * Milliseconds within which a signal counts as the same key press, because npm repeats the Ctrl-C that the terminal has
 * already sent.
 */
const samePressMs = 1_000;

/** Listens for SIGINT, SIGTERM and a closed terminal. */
export function listenForStop(): StopSignal {
  let askedAtMs: number | undefined;
  const first = createEvent();
  const second = createEvent();
  const onSignal = () => {
    if (askedAtMs === undefined) {
      askedAtMs = Date.now();
      first.happen();
    } else if (Date.now() - askedAtMs > samePressMs) second.happen();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    asked: first.happened,
    insisted: second.happened,
    dispose() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

function createEvent(): { happened: Promise<void>; happen: () => void } {
  const listeners: (() => void)[] = [];
  const happened = new Promise<void>((resolve) => listeners.push(resolve));
  return { happened, happen: () => listeners.forEach((listener) => listener()) };
}
