import { eventually } from '../support/eventually.ts';

interface Calls {
  readonly calls: readonly { readonly startedAtMs: number }[];
}

/** A bound for a start that hangs. */
const waitMs = 180_000;

/**
 * When the first model call reaches a rehearsal model that is only just starting.
 *
 * @param port of a rehearsal model whose paths for tests are open.
 * @returns Unix epoch milliseconds, as the rehearsal model saw it: how often we look does not matter.
 */
export function listenForFirstCall(port: number): Promise<number> {
  return eventually(
    'the first model call',
    async () => {
      const response = await fetch(`http://127.0.0.1:${port}/_rehearsal/calls`).catch(() => null);
      if (response === null) return null;
      const seen: Calls = JSON.parse(await response.text());
      return seen.calls[0]?.startedAtMs;
    },
    waitMs,
  );
}
