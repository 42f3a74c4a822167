import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Span as received by a collector. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  /** `code` 2: it failed. */
  readonly status: { readonly code?: number };
}

/** Returns the attribute of a span with this name as text; empty when it has none. */
export function attributeOf({ attributes }: ReceivedSpan, name: string): string {
  const found = attributes.find(({ key }) => key === name);
  return found === undefined ? '' : Object.values(found.value).join('');
}

/** Trace part of an OpenTelemetry collector: OTLP over HTTP, in JSON. */
export interface OtlpReceiver {
  readonly url: string;
  spans(): readonly ReceivedSpan[];
  /** Returns everything that was received, unchanged. */
  text(): string;
  close(): Promise<void>;
}

interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isTraces = request.method === 'POST' && request.url === '/v1/traces';
      if (isTraces) bodies.push(Buffer.concat(chunks).toString());
      response.writeHead(isTraces ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  // An address of a pipe is text; this one has a port.
  const { port }: Pick<AddressInfo, 'port'> = Object(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () =>
      bodies.flatMap((body) => {
        const { resourceSpans }: TraceRequest = JSON.parse(body);
        return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
      }),
    text: () => bodies.join('\n'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
