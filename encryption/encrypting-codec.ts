import type { Payload, PayloadCodec } from '@temporalio/common';
import { CannotDecrypt } from './key-ring.ts';
import type { Encrypted, KeyRing } from './key-ring.ts';

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Names of Temporal's samples, which its tools know. */
const encryptedEncoding = 'binary/encrypted';
const keyIdField = 'encryption-key-id';
const encryptedEncodingBytes = encoder.encode(encryptedEncoding);

/**
 * Encrypts every payload on its way to the server, whatever it holds, and decrypts what comes back.
 *
 * PC1. A payload that no ring has encrypted stays as it is: runs from before the first key go on.
 * PC2. A payload of another namespace is refused.
 * PC3. Without keys nothing is encrypted, and an encrypted payload is refused with its key id.
 * PC4. A payload that only claims to be encrypted stays as it is.
 *
 * @param onFault Returns what stands for an unreadable payload. Default: its error is thrown.
 */
export function createEncryptingCodec(
  keys: KeyRing,
  namespace: string,
  onFault: (fault: CannotDecrypt) => Payload = rethrow,
): PayloadCodec {
  const place = { purpose: 'payload', context: namespace } as const;
  const decode = (payload: Payload): Payload => {
    const encrypted = readEncrypted(payload);
    if (encrypted === null) return payload;
    try {
      return unpack(keys.decrypt(encrypted, place));
    } catch (error) {
      if (error instanceof CannotDecrypt) return onFault(error);
      throw error;
    }
  };
  return {
    encode: async (payloads) =>
      keys.ids.length === 0
        ? payloads
        : payloads.map((payload) => wrap(keys.encrypt(pack(payload), place))),
    decode: async (payloads) => payloads.map(decode),
  };
}

/** Creates a payload that says in words why another one can't be read. */
export function explainFault({ message }: CannotDecrypt): Payload {
  return {
    metadata: { encoding: encoder.encode('json/plain') },
    data: encoder.encode(JSON.stringify(`(encrypted) ${message}`)),
  };
}

/** Returns the id of the key that a payload was encrypted with; null for one that is not encrypted. */
export function keyIdOf(payload: Payload): string | null {
  return readEncrypted(payload)?.keyId ?? null;
}

function rethrow(fault: CannotDecrypt): never {
  throw fault;
}

function wrap({ keyId, bytes }: Encrypted): Payload {
  return {
    metadata: { encoding: encryptedEncodingBytes, [keyIdField]: encoder.encode(keyId) },
    data: bytes,
  };
}

function readEncrypted({ metadata, data }: Payload): Encrypted | null {
  const keyId = metadata?.[keyIdField];
  if (decoder.decode(metadata?.['encoding'] ?? new Uint8Array()) !== encryptedEncoding) return null;
  return keyId && data && data.length > 0 ? { keyId: decoder.decode(keyId), bytes: data } : null;
}

/** Writes a payload as the length of its metadata in 4 bytes, the metadata as JSON with values in Base64, and the data. */
function pack({ metadata, data }: Payload): Uint8Array {
  const entries = Object.entries(metadata ?? {}).map(
    ([name, value]) => [name, Buffer.from(value).toString('base64')] as const,
  );
  const head = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, data ?? new Uint8Array()]);
}

/** Reads what `pack` wrote; the tag has proved that it is unchanged. */
function unpack(packed: Uint8Array): Payload {
  const bytes = Buffer.from(packed);
  const end = 4 + bytes.readUInt32BE();
  const head: Readonly<Record<string, string>> = JSON.parse(bytes.toString('utf8', 4, end));
  const entries = Object.entries(head).map(
    ([name, value]) => [name, Uint8Array.from(Buffer.from(value, 'base64'))] as const,
  );
  return { metadata: Object.fromEntries(entries), data: Uint8Array.from(bytes.subarray(end)) };
}
