import type { Payload, PayloadCodec } from '@temporalio/common';

const decoder = new TextDecoder();
/** Decoder as strict as the sandbox's, for which a byte order mark is no JSON. */
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();
const jsonEncoding = encoder.encode('json/plain');

/**
 * Keeps a payload from breaking a workflow task. Temporal stores anything that a person sends; a signal with broken
 * JSON would fail the task of its workflow again and again. This codec turns it into a JSON value that the rules refuse
 * by name.
 */
export const tolerantCodec: PayloadCodec = {
  encode: async (payloads) => payloads,
  decode: async (payloads) => payloads.map(makeReadable),
};

const known = new Set(['json/plain', 'binary/null', 'binary/plain']);

function makeReadable(payload: Payload): Payload {
  const encoding = decoder.decode(payload.metadata?.['encoding'] ?? new Uint8Array());
  const data = payload.data ?? new Uint8Array();
  if (encoding === 'json/plain' ? isJson(data) : known.has(encoding)) return payload;
  const unreadable = { unreadable: decoder.decode(data).slice(0, 200), encoding };
  return {
    metadata: { encoding: jsonEncoding },
    data: encoder.encode(JSON.stringify(unreadable)),
  };
}

/**
 * Checks strictly: bytes that are no UTF-8 would be replaced silently, and an answer would differ from what was typed.
 */
function isJson(data: Uint8Array): boolean {
  try {
    JSON.parse(strictDecoder.decode(data));
    return true;
  } catch {
    return false;
  }
}
