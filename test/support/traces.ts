import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import type { StoredHistory } from './histories.ts';

/**
 * Finds a text in what a run left behind: files of the home, by their relative paths, and payloads of histories, by
 * their workflow.
 *
 * @param text in letters, digits and blanks, so that no encoding changes it.
 */
export function findTraces(
  home: string,
  histories: readonly StoredHistory[],
  text: string,
): string[] {
  const inHistories = histories
    .filter(({ history }) => holdsText(history, text))
    .map(({ workflowId }) => workflowId);
  return [...filesWith(home, text), ...inHistories];
}

function filesWith(home: string, text: string): string[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))
    .map((path) => relative(home, path));
}

/** Returns true when a value contains the text. Payloads are bytes; failures hold texts of their own. */
function holdsText(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value.includes(text);
  if (value instanceof Uint8Array) return Buffer.from(value).includes(text);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((one) => holdsText(one, text));
}

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
