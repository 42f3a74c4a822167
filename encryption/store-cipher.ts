import { CannotDecrypt } from './key-ring.ts';
import type { CipherPlace, KeyRing } from './key-ring.ts';

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
