import type { Payload, PayloadCodec } from '@temporalio/common';
import type { ConnectionLike } from '@temporalio/client';
import { CannotDecrypt, type Encrypted, type KeyRing, type CipherPlace } from './key-ring.ts';

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
    data: encoder.encode(JSON.stringify(explainedMark + message)),
  };
}

const explainedMark = '(encrypted) ';

/** Returns true for a value that `explainFault` put in place of one that can't be decrypted. */
export function isExplained(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(explainedMark);
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
  // In the result of a workflow that returns nothing, an empty array stands for the bytes.
  return Buffer.concat([length, head, new Uint8Array(data ?? [])]);
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

/** First bytes of encrypted content. No UTF-8 text begins like this, and the last one is the version of the form. */
const mark = Buffer.from([0xff, 0x70, 0x77, 0x65, 1]);

/**
 * Encrypts what a store keeps, for `activities/ports/cipher.ts`. The same text, part and key give the same bytes.
 *
 * Encrypted content is the mark, the length of the key's id (1 byte), the id, and what the key ring gives.
 *
 * EB1. Content from before the first key is returned as it is.
 * EB2. Content of another part of the store, or of an unknown key, is refused; the message says why.
 */
export function createStoreCipher(keys: KeyRing) {
  return {
    isOn: keys.ids.length > 0,
    seal(plain: Uint8Array, part: string): Uint8Array {
      const { keyId, bytes } = keys.encryptAlike(plain, placeOf(part));
      const id = Buffer.from(keyId);
      return Buffer.concat([mark, Buffer.from([id.length]), id, bytes]);
    },
    isSealed,
    open(content: Uint8Array, part: string): Uint8Array {
      if (!isSealed(content)) return content;
      const start = mark.length + 1;
      const end = start + (content[mark.length] ?? 0);
      const keyId = Buffer.from(content.subarray(start, end)).toString();
      if (keyId === '') throw new CannotDecrypt('It begins like encrypted content and is none.');
      return keys.decrypt({ keyId, bytes: content.subarray(end) }, placeOf(part));
    },
  };
}

function placeOf(part: string): CipherPlace {
  return { purpose: 'store', context: part };
}

function isSealed(content: Uint8Array): boolean {
  return mark.equals(content.subarray(0, mark.length));
}

/** Most open workflows that are looked at. One that is read shows the keys of all that began at the same time. */
const workflowsMax = 1_000;

interface Place {
  readonly namespace: string;
  readonly taskQueue: string;
  readonly keys: KeyRing;
}

/**
 * Lists the ids of keys that open workflows need and the ring does not have, by the memo that each run has from its start. A
 * worker without them would fail at work that others can do.
 */
async function findMissingKeys(
  { workflowService }: Pick<ConnectionLike, 'workflowService'>,
  { namespace, taskQueue, keys }: Place,
): Promise<readonly string[]> {
  const quoted = `'${taskQueue.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
  const { executions } = await workflowService.listWorkflowExecutions({
    namespace,
    pageSize: workflowsMax,
    query: `ExecutionStatus = 'Running' AND TaskQueue = ${quoted}`,
  });
  const used = executions.flatMap(({ memo }) => Object.values(memo?.fields ?? {}).map(keyIdOf));
  const missing = used.filter((id) => id !== null).filter((id) => !keys.ids.includes(id));
  return [...new Set(missing)].toSorted();
}

/**
 * Describes the keys that open workflows need and the ring does not have, with the cure.
 *
 * @returns null when all are there, and when the server can't list workflows.
 */
export async function describeMissingKeys(
  connection: Pick<ConnectionLike, 'workflowService'>,
  place: Place,
): Promise<string | null> {
  const missing = await findMissingKeys(connection, place).catch(() => []);
  if (missing.length === 0) return null;
  const named = missing.map((id) => `"${id}"`).join(', ');
  return (
    `Open runs are encrypted with ${missing.length === 1 ? 'the key' : 'the keys'} ${named}, which PLANWAVE_KEYS does not have. ` +
    'Try: add each as id:key behind the first key; an old key stays until no run and no stored text needs it'
  );
}
