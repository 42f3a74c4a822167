import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** Bytes of a key: AES-256 has no other length. */
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** Place of a ciphertext. It is authenticated: the bytes can't be read anywhere else. */
export interface CipherPlace {
  /** Each purpose has keys of its own, derived from those of the ring. */
  readonly purpose: 'payload' | 'store';
  /** A namespace, or the part of the store. */
  readonly context: string;
}

export interface Encrypted {
  readonly keyId: string;
  /** Nonce, ciphertext and tag. */
  readonly bytes: Uint8Array;
}

/**
 * Keys by id: the first encrypts, all decrypt.
 *
 * KR1. What was encrypted under any key of the ring is read; a new first key changes nothing about that.
 * KR2. Bytes that were changed, moved to another place, or named after another key are refused.
 * KR3. A key that is not there is named by its id, with the cure. No message holds a key.
 * KR4. `encrypt` gives different bytes each time; `encryptAlike` gives the same bytes for the same text, place and first key,
 *      and without the key nobody can tell which text they belong to.
 */
export interface KeyRing {
  /** Ids, the one that encrypts first. Empty without keys: then nothing is encrypted. */
  readonly ids: readonly string[];
  encrypt(plain: Uint8Array, place: CipherPlace): Encrypted;
  encryptAlike(plain: Uint8Array, place: CipherPlace): Encrypted;
  /** @throws {CannotDecrypt} KR2, KR3. */
  decrypt(encrypted: Encrypted, place: CipherPlace): Uint8Array;
}

/** Encrypted bytes can't be read here; the message names the key by its id, and the cure. */
export class CannotDecrypt extends Error {
  override readonly name = 'CannotDecrypt';
}

/** A text can't be a list of keys; the message says what is expected, without the text. */
export class BadKeys extends Error {
  override readonly name = 'BadKeys';
}

interface Key {
  readonly id: string;
  readonly secret: Buffer;
}

const newKey = 'Try: openssl rand -base64 32';

/**
 * Reads a key ring, `id:key,id2:key2`, each key as 32 bytes in Base64.
 *
 * @param text If empty or undefined, the ring has no keys.
 * @throws {BadKeys} when an entry has another form, a key another length, or two entries the same id.
 */
export function readKeyRing(text: string | undefined): KeyRing {
  const entries = (text ?? '').split(',').map((entry) => entry.trim());
  if (entries.join('') === '') return createKeyRing([]);
  const keys = entries.map(readKey);
  const twice = keys.find(({ id }, at) => keys.findIndex((one) => one.id === id) !== at);
  if (twice !== undefined) {
    throw new BadKeys(
      `each key under an id of its own, found two keys "${twice.id}". Try: rename one; the id of a key in use must stay`,
    );
  }
  return createKeyRing(keys);
}

function readKey(entry: string, at: number): Key {
  const nth = `entry ${at + 1}`;
  const [, id, encoded = ''] = /^([\w.-]{1,64}):(.*)$/s.exec(entry) ?? [];
  if (id === undefined) {
    throw new BadKeys(
      `id:key, separated by commas, with ids of letters, digits, ".", "_" and "-"; ${nth} has another form. Try: k1:$(openssl rand -base64 32)`,
    );
  }
  const secret = Buffer.from(encoded, 'base64');
  const isBase64 =
    encoded !== '' && [secret.toString('base64'), secret.toString('base64url')].includes(encoded);
  if (!isBase64)
    throw new BadKeys(`Base64 for the key "${id}" (${nth}), found something else. ${newKey}`);
  if (secret.length !== keyBytes) {
    throw new BadKeys(
      `${keyBytes} bytes for the key "${id}" (${nth}), found ${secret.length}. ${newKey}`,
    );
  }
  return { id, secret };
}

function createKeyRing(keys: readonly Key[]): KeyRing {
  const derived = new Map<string, Buffer>();
  const derive = ({ id, secret }: Key, use: string): Buffer => {
    const name = `${use} ${id}`;
    const known =
      derived.get(name) ?? Buffer.from(hkdfSync('sha256', secret, '', `planwave ${use}`, keyBytes));
    derived.set(name, known);
    return known;
  };
  const ids = keys.map(({ id }) => id);
  const encryptBy = (
    plain: Uint8Array,
    place: CipherPlace,
    nonceOf: (key: Key, aad: Buffer) => Uint8Array,
  ): Encrypted => {
    const [first] = keys;
    if (first === undefined)
      throw new CannotDecrypt('There is no key to encrypt with. Try: set PLANWAVE_KEYS');
    const aad = aadOf(first.id, place);
    const nonce = nonceOf(first, aad);
    const cipher = createCipheriv('aes-256-gcm', derive(first, place.purpose), nonce).setAAD(aad);
    const bytes = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return { keyId: first.id, bytes };
  };
  return {
    ids,
    encrypt: (plain, place) => encryptBy(plain, place, () => randomBytes(nonceBytes)),
    encryptAlike: (plain, place) =>
      encryptBy(plain, place, (key, aad) =>
        createHmac('sha256', derive(key, `${place.purpose} nonce`))
          .update(aad)
          .update(plain)
          .digest()
          .subarray(0, nonceBytes),
      ),
    decrypt: ({ keyId, bytes }, place) => {
      const key = keys.find(({ id }) => id === keyId);
      if (key === undefined) throw new CannotDecrypt(describeMissing(keyId, ids));
      try {
        const nonce = bytes.subarray(0, nonceBytes);
        return createDecipher(derive(key, place.purpose), nonce, aadOf(keyId, place), bytes);
      } catch (error) {
        throw new CannotDecrypt(describeRefused(keyId, place), { cause: error });
      }
    },
  };
}

function createDecipher(key: Buffer, nonce: Uint8Array, aad: Buffer, bytes: Uint8Array): Buffer {
  const end = bytes.length - tagBytes;
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
    .setAAD(aad)
    .setAuthTag(bytes.subarray(end));
  return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, end)), decipher.final()]);
}

/** JSON keeps the parts apart: a context may hold any separator. */
function aadOf(keyId: string, { purpose, context }: CipherPlace): Buffer {
  return Buffer.from(`${JSON.stringify(['planwave', 1, purpose, keyId, context])}\n`);
}

function describeMissing(keyId: string, ids: readonly string[]): string {
  const known = ids.length === 0 ? 'there are no keys here' : `the keys here are ${ids.join(', ')}`;
  return (
    `It is encrypted with the key "${keyId}", and ${known}. ` +
    `Try: add "${keyId}:…" to PLANWAVE_KEYS, as the worker has it`
  );
}

function describeRefused(keyId: string, { purpose, context }: CipherPlace): string {
  const where = purpose === 'payload' ? `the namespace "${context}"` : 'this part of the store';
  return (
    `It is encrypted with a key named "${keyId}", but not with the key of that name here, or it was changed, or it belongs elsewhere ` +
    `than to ${where}. Try: compare the key in PLANWAVE_KEYS with the one of the worker that wrote it`
  );
}
