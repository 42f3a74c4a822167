import type { FetchLike } from '@modelcontextprotocol/client';

/** Most bytes of one response. */
export const responseBytesMax = 10_000_000;

/**
 * Creates a `fetch` for a server: responses are bounded, and redirects are refused, because they would carry headers and
 * arguments to a place that the operator did not name.
 *
 * @param onBroken Called when a response to a message can't be read to its end: the client would wait for it.
 */
export function createLimitedFetch(onBroken: (reason: string) => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, { ...init, redirect: 'manual' });
    if (response.status >= 300 && response.status < 400 && response.headers.has('location')) {
      await response.body?.cancel();
      const reason = 'it redirects, which is refused. Try: the final address as url';
      onBroken(reason);
      throw new Error(reason);
    }
    // A stream that only listens may end at any time.
    return limitBody(response, init?.method === 'POST' ? onBroken : () => {});
  };
}

/** Ends the body once it is too long. What was read until then is all that takes memory. */
function limitBody(response: Response, onBroken: (reason: string) => void): Response {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  let bytes = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        bytes += value.byteLength;
        if (bytes > responseBytesMax)
          throw new Error(`it sent more than ${responseBytesMax} bytes at once`);
        controller.enqueue(value);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        onBroken(reason);
        await reader.cancel().catch(() => {});
        controller.error(new Error(reason));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}
