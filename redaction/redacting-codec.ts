import type { Payload, PayloadCodec } from '@temporalio/common';
import type { Redactor } from './create-redactor.ts';

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** No secret fits into less, and most payloads are small. */
const bytesMin = 10;

/**
 * Redacts every payload on its way to the server: inputs and results of workflows and activities, heartbeats, details of
 * failures, signals, updates, views, memos and what the Web UI shows. Nothing is changed on the way back.
 *
 * Replay does not compare payloads, so a history that was written with other rules replays.
 */
export function createRedactingCodec(redactor: Redactor, sink: string): PayloadCodec {
  return {
    encode: async (payloads) => payloads.map((payload) => redactPayload(payload, redactor, sink)),
    decode: async (payloads) => payloads,
  };
}

function redactPayload(payload: Payload, redactor: Redactor, sink: string): Payload {
  const encoding = decoder.decode(payload.metadata?.['encoding'] ?? new Uint8Array());
  const data = payload.data ?? new Uint8Array();
  if (encoding !== 'json/plain' || data.length < bytesMin) return payload;
  const text = decoder.decode(data);
  const redacted = redactor.redactText(text, sink);
  return redacted === text ? payload : { ...payload, data: encoder.encode(redacted) };
}
