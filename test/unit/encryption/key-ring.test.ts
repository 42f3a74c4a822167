import { randomBytes } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import { assert, nat, property, uint8Array } from 'fast-check';
import {
  createEncryptingCodec,
  explainFault,
  keyIdOf,
  createStoreCipher,
} from '../../../encryption/encrypting-codec.ts';
import { BadKeys, CannotDecrypt, readKeyRing } from '../../../encryption/key-ring.ts';
import { readWorkerSettings } from '../../../worker/worker-settings.ts';
import { keysText, testKeys } from '../../support/test-keys.ts';

const here = { purpose: 'payload', context: 'default' } as const;
const bytes = Buffer.from('the plan of the bridge');
const textOf = (plain: Uint8Array): string => Buffer.from(plain).toString();

it('KR1: what any key of the ring has encrypted is read, whichever key is the first', () => {
  const old = testKeys('k1').encrypt(bytes, here);
  const rotated = testKeys('k2', 'k1');
  expect(textOf(rotated.decrypt(old, here))).toBe(textOf(bytes));
  const fresh = rotated.encrypt(bytes, here);
  expect(fresh.keyId).toBe('k2');
  expect(textOf(testKeys('k1', 'k2').decrypt(fresh, here))).toBe(textOf(bytes));
  expect(rotated.ids).toEqual(['k2', 'k1']);
});

it('KR2: bytes that were changed, moved or named after another key are refused', () => {
  const keys = testKeys('k1', 'k2');
  assert(
    property(uint8Array({ maxLength: 200 }), nat(), (plain, at) => {
      const { keyId, bytes: sealed } = keys.encrypt(plain, here);
      expect(keys.decrypt({ keyId, bytes: sealed }, here)).toEqual(Buffer.from(plain));
      const changed = Uint8Array.from(sealed);
      const place = at % changed.length;
      changed[place] = (changed[place] ?? 0) ^ 1;
      const attempts = [
        () => keys.decrypt({ keyId, bytes: changed }, here),
        () => keys.decrypt({ keyId, bytes: sealed.subarray(0, at % sealed.length) }, here),
        () => keys.decrypt({ keyId: 'k2', bytes: sealed }, here),
        () => keys.decrypt({ keyId, bytes: sealed }, { ...here, context: 'other' }),
        () => keys.decrypt({ keyId, bytes: sealed }, { ...here, purpose: 'store' }),
      ];
      for (const attempt of attempts) expect(attempt).toThrow(CannotDecrypt);
    }),
  );
});

it('KR2: a key under the id of another one is refused even if it is known under its own', () => {
  const [k1 = ''] = keysText('k1').split(':').slice(1);
  const sealed = testKeys('k1').encrypt(bytes, here);
  const renamed = readKeyRing(`k9:${k1}`);
  expect(() => renamed.decrypt({ ...sealed, keyId: 'k9' }, here)).toThrow('not with the key');
});

it('KR3: a key that is not there is named with the cure, and a bad ring is explained without its keys', () => {
  const sealed = testKeys('k1').encrypt(bytes, here);
  expect(() => testKeys('k2', 'k3').decrypt(sealed, here)).toThrow(
    'It is encrypted with the key "k1", and the keys here are k2, k3. Try: add "k1:…" to PLANWAVE_KEYS',
  );
  expect(() => readKeyRing('').decrypt(sealed, here)).toThrow('there are no keys here');
  const short = randomBytes(16).toString('base64');
  const long = randomBytes(40).toString('base64');
  const faults: readonly (readonly [ring: string, words: string])[] = [
    [`k1:${short}`, '32 bytes for the key "k1" (entry 1), found 16'],
    [`${keysText('k1')},k2:${long}`, '32 bytes for the key "k2" (entry 2), found 40'],
    ['k1:not base 64!', 'Base64 for the key "k1"'],
    ['k1:', 'Base64 for the key "k1"'],
    ['k1', 'entry 1 has another form'],
    [randomBytes(32).toString('base64'), 'entry 1 has another form'],
    [`${keysText('k1')},`, 'entry 2 has another form'],
    [keysText('k1', 'k2', 'k1'), 'two keys "k1"'],
    [`ä:${short}`, 'entry 1 has another form'],
  ];
  for (const [ring, words] of faults) {
    expect(() => readKeyRing(ring)).toThrow(BadKeys);
    expect(() => readKeyRing(ring)).toThrow(words);
    const read = () => readWorkerSettings({ ANTHROPIC_API_KEY: 'x', PLANWAVE_KEYS: ring });
    expect(read).toThrow(`PLANWAVE_KEYS can't be used: expected `);
    expect(read).toThrow('Try: ');
    for (const secret of [short, long]) expect(read).not.toThrow(secret);
  }
  expect(readKeyRing(undefined).ids).toEqual([]);
  // Written for a URL, and with blanks between the entries.
  const urlSafe = keysText('k1', 'k2')
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
    .replaceAll(',', ' , ');
  expect(textOf(readKeyRing(urlSafe).decrypt(sealed, here))).toBe(textOf(bytes));
});

it('KR4: two encryptions differ, or are alike for one text, place and key alone', () => {
  const keys = testKeys('k1', 'k2');
  expect(keys.encrypt(bytes, here).bytes).not.toEqual(keys.encrypt(bytes, here).bytes);
  const alike = keys.encryptAlike(bytes, here);
  expect(testKeys('k1').encryptAlike(bytes, here)).toEqual(alike);
  const others = [
    keys.encryptAlike(Buffer.from('another'), here),
    keys.encryptAlike(bytes, { ...here, context: 'other' }),
    testKeys('k2').encryptAlike(bytes, here),
  ];
  const nonces = [alike, ...others].map(({ bytes: sealed }) => sealed.subarray(0, 12).join());
  expect(new Set(nonces).size).toBe(nonces.length);
  expect(textOf(keys.decrypt(alike, here))).toBe(textOf(bytes));
});

const payload: Payload = {
  metadata: { encoding: Buffer.from('json/plain'), 'message-type': Buffer.from('ä') },
  data: Buffer.from('"the plan of the bridge"'),
};
const codecOf = (keys: ReturnType<typeof testKeys>, namespace = 'default') =>
  createEncryptingCodec(keys, namespace);

function texts(payloads: readonly Payload[]) {
  return payloads.map(({ metadata, data }) => [
    Object.entries(metadata ?? {}).map(([name, value]) => [name, textOf(value)]),
    textOf(data ?? Buffer.alloc(0)),
  ]);
}

async function sealedPayload(): Promise<Payload> {
  const [sealed] = await codecOf(testKeys('k1')).encode([payload]);
  if (sealed === undefined) throw new Error('nothing was encoded');
  return sealed;
}

it('PC1: payloads come back as they were, with all metadata, and plain ones stay as they are', async () => {
  const codec = codecOf(testKeys('k2', 'k1'));
  const all = [payload, { metadata: { encoding: Buffer.from('binary/null') } }, {}];
  const sealed = await codec.encode(all);
  expect(sealed.map(keyIdOf)).toEqual(['k2', 'k2', 'k2']);
  expect(
    JSON.stringify(sealed.map(({ data }) => Buffer.from(data ?? []).toString())),
  ).not.toContain('bridge');
  expect(texts(await codec.decode(sealed))).toEqual(texts(all));
  expect(await codec.decode([payload])).toEqual([payload]);
});

it('PC1: the result of a workflow that returns nothing has an array for its bytes', async () => {
  const codec = codecOf(testKeys('k1'));
  const data: Uint8Array = JSON.parse('[]');
  const nothing = { metadata: { encoding: Buffer.from('binary/null') }, data };
  const sealed = await codec.encode([nothing]);
  expect(texts(await codec.decode(sealed))).toEqual([[[['encoding', 'binary/null']], '']]);
});

it('PC2: a payload of another namespace is refused', async () => {
  const sealed = await sealedPayload();
  await expect(codecOf(testKeys('k1'), 'other').decode([sealed])).rejects.toThrow(
    'it belongs elsewhere than to the namespace "other"',
  );
});

it('PC3: without keys nothing is encrypted, and an encrypted payload is refused or explained', async () => {
  const none = readKeyRing(undefined);
  expect(await codecOf(none).encode([payload])).toEqual([payload]);
  const sealed = await sealedPayload();
  await expect(codecOf(none).decode([sealed])).rejects.toThrow('encrypted with the key "k1"');
  const [explained] = await createEncryptingCodec(none, 'default', explainFault).decode([sealed]);
  expect(textOf(explained?.data ?? Buffer.alloc(0))).toMatch(/^"\(encrypted\) .*\\"k1\\"/);
});

it('PC4: a payload that only claims to be encrypted is left to the next codec', async () => {
  const claims = {
    metadata: { encoding: Buffer.from('binary/encrypted') },
    data: Buffer.from('x'),
  };
  const empty = {
    metadata: { ...claims.metadata, 'encryption-key-id': Buffer.from('k1') },
    data: Buffer.alloc(0),
  };
  expect(await codecOf(testKeys('k1')).decode([claims, empty])).toEqual([claims, empty]);
});

it('EB1: content from before the first key is returned as it is', () => {
  const cipher = createStoreCipher(testKeys('k1'));
  for (const plain of ['', 'a text', '\u00ffpwe'].map((text) => Buffer.from(text))) {
    expect(cipher.open(plain, 'artifact')).toEqual(plain);
    expect(cipher.open(cipher.seal(plain, 'artifact'), 'artifact')).toEqual(plain);
  }
  expect(createStoreCipher(readKeyRing(undefined)).isOn).toBe(false);
});

it('EB2: content of another part, or of an unknown key, is refused with the reason', () => {
  const sealed = createStoreCipher(testKeys('k1')).seal(bytes, 'artifact');
  const open =
    (part: string, ...ids: readonly string[]) =>
    () =>
      createStoreCipher(testKeys(...ids)).open(sealed, part);
  expect(open('reply', 'k1')).toThrow('this part of the store');
  expect(open('artifact', 'k2')).toThrow('with the key "k1", and the keys here are k2');
  expect(() => createStoreCipher(testKeys('k1')).open(sealed.subarray(0, 5), 'artifact')).toThrow(
    CannotDecrypt,
  );
});
