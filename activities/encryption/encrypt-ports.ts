import { isRecord } from '../../core/json.ts';
import {
  ArtifactCorrupt,
  KeyUnavailable,
  type ArtifactStore,
  type RunIndex,
} from '../ports/artifact-store.ts';
import type { Cipher } from '../ports/cipher.ts';
import { damagedEntry, type EffectLedger } from '../ports/effect-ledger.ts';
import type { ProjectionWriter } from '../ports/projection-writer.ts';
import type { LedgerKey, ReplyLedger } from '../ports/reply-ledger.ts';
import { messageOf } from '../../core/text/message-of.ts';
import { decodeArtifact } from '../artifacts/artifact-batch.ts';

/**
 * Wrappers that encrypt what a store of any kind keeps. Each is there without keys too: then it writes plain content, and
 * says of encrypted content which key it needs.
 *
 * EP1. Nothing that a wrapped port writes holds a word of the content; keys of entries stay as they are.
 * EP2. The address of an artifact is the SHA-256 of its encrypted bytes, so a store is checked without keys, and nobody
 *      without the key can tell which text an address belongs to.
 * EP3. The same text has the same address while the first key is the same.
 * EP4. Content from before the first key is read as it is.
 * EP5. Content whose key is not there makes the store unavailable: the work waits and is repeated.
 * EP6. An entry that was moved to another key of the ledger is not read.
 */

/** Wraps a store of artifacts: what it keeps is encrypted, and addresses are those of encrypted bytes. */
export function encryptStore(store: ArtifactStore, cipher: Cipher | undefined): ArtifactStore {
  if (cipher === undefined) return store;
  const part = 'artifact';
  const get = async (ref: string): Promise<Uint8Array> => open(cipher, await store.get(ref), part);
  return {
    put: async (content) => store.put(cipher.isOn ? cipher.seal(toBytes(content), part) : content),
    get,
    getText: async (ref) => {
      if (cipher.isOn) return decodeArtifact(await get(ref), ref, '');
      try {
        return await store.getText(ref);
      } catch (error) {
        // Encrypted bytes are no text either: then this says which key they need.
        if (error instanceof ArtifactCorrupt) await get(ref);
        throw error;
      }
    },
    has: (ref) => store.has(ref),
    openBatch: () => {
      const batch = store.openBatch();
      return { ...encryptStore(batch, cipher), staged: batch.staged };
    },
  };
}

function toBytes(content: Uint8Array | string): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : content;
}

function open(cipher: Cipher, content: Uint8Array, part: string): Uint8Array {
  try {
    return cipher.open(content, part);
  } catch (error) {
    const message = `Can't read what is stored. ${messageOf(error)}. The run waits and continues by itself.`;
    throw new KeyUnavailable(message, { path: '', code: null, cause: error });
  }
}

/** JSON that stands for an encrypted value. */
interface EncryptedValue {
  /** Base64. */
  readonly encrypted: string;
}

/** Returns what stands for a value in a ledger, which keeps any JSON unread. */
function sealValue<T>(cipher: Cipher, value: T, part: string): T {
  if (!cipher.isOn) return value;
  const sealed = cipher.seal(Buffer.from(JSON.stringify(value) ?? 'null'), part);
  const encrypted = Buffer.from(sealed).toString('base64');
  const kept: T = JSON.parse(JSON.stringify({ encrypted } satisfies EncryptedValue));
  return kept;
}

function openValue<T>(cipher: Cipher, value: T, part: string): T {
  if (!isEncryptedValue(value)) return value;
  const opened = open(cipher, Buffer.from(value.encrypted, 'base64'), part);
  const plain: T = JSON.parse(Buffer.from(opened).toString('utf8'));
  return plain;
}

function isEncryptedValue(value: unknown): value is EncryptedValue {
  return (
    isRecord(value) && Object.keys(value).length === 1 && typeof value['encrypted'] === 'string'
  );
}

/** Wraps a ledger of replies. Keys and numbers of attempts stay as they are. */
export function encryptLedger(ledger: ReplyLedger, cipher: Cipher | undefined): ReplyLedger {
  if (cipher === undefined) return ledger;
  return {
    find: async (key) =>
      (await ledger.find(key)).map((value) => openValue(cipher, value, partOf(key))),
    list: async (place, since) =>
      (await ledger.list(place, since)).map((entry) => ({
        ...entry,
        value: openValue(cipher, entry.value, partOf(entry.key)),
      })),
    put: async (key, attempt, value, batch, time) =>
      ledger.put(key, attempt, sealValue(cipher, value, partOf(key)), batch, time),
  };
}

function partOf({ workflow_id, run_id, activity_id }: LedgerKey): string {
  return JSON.stringify(['reply', workflow_id, run_id, activity_id]);
}

export function encryptEffects(ledger: EffectLedger, cipher: Cipher | undefined): EffectLedger {
  if (cipher === undefined) return ledger;
  return {
    find: async (key) => {
      const { state, version } = await ledger.find(key);
      if (state === null || state === damagedEntry) return { state, version };
      return { state: openValue(cipher, state, effectPart(key)), version };
    },
    put: async (key, state, after) =>
      ledger.put(key, sealValue(cipher, state, effectPart(key)), after),
  };
}

function effectPart(key: string): string {
  return JSON.stringify(['effect', key]);
}

/** Wraps an index whose names are words of agents. With another first key every name is new. */
export function encryptNames(index: RunIndex, cipher: Cipher | undefined): RunIndex {
  if (cipher?.isOn !== true) return index;
  const part = 'name';
  const nameOf = (name: string): string =>
    Buffer.from(cipher.seal(Buffer.from(name), part)).toString('base64url');
  return {
    read: (name) => index.read(nameOf(name)),
    write: (name, ref, after) => index.write(nameOf(name), ref, after),
    list: async () =>
      (await index.list()).map((name) => {
        const bytes = Buffer.from(name, 'base64url');
        const isSealed = bytes.toString('base64url') === name && cipher.isSealed(bytes);
        return isSealed ? Buffer.from(open(cipher, bytes, part)).toString() : name;
      }),
  };
}

/** Wraps the readable files: with keys none is written, because people read them as plain text. */
export function withholdProjection(projection: ProjectionWriter, cipher: Cipher): ProjectionWriter {
  if (!cipher.isOn) return projection;
  return { ...projection, write: async (_runId, _path, _text, terms) => terms?.mayStill?.() };
}
