import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** Certificate and private key, both PEM. */
export interface Certified {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  /** PEM. */
  readonly cert: string;
  /** @param validDays Days from now, from and until. Default: from yesterday for ten days. */
  issue(names: readonly string[], validDays?: readonly [number, number]): Certified;
}

// The part of X.509 that TLS needs (RFC 5280), in DER.

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size =
    length < 0x80
      ? [length]
      : length < 0x1_00
        ? [0x81, length]
        : [0x82, Math.floor(length / 0x1_00), length % 0x1_00];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const octets = (...parts: readonly Uint8Array[]): Buffer => der(0x04, ...parts);
const always = der(0x01, Buffer.from([0xff]));

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));

function nameOf(common: string): Buffer {
  return sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(common)))));
}

function timeOf(daysFromNow: number): Buffer {
  const text = new Date(Date.now() + daysFromNow * 86_400_000).toISOString();
  return der(0x18, Buffer.from(`${text.slice(0, 19).replaceAll(/[-:T]/g, '')}Z`));
}

/** Marks a certificate that may sign others. */
const isAuthority = sequence(oid('551d13'), always, octets(sequence(always)));

function alternativeNames(names: readonly string[]): Buffer {
  const entries = names.map((name) =>
    isIPv4(name)
      ? der(0x87, Buffer.from(name.split('.').map(Number)))
      : der(0x82, Buffer.from(name)),
  );
  return sequence(oid('551d11'), octets(sequence(...entries)));
}

function toPem(bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

interface Content {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signedBy: KeyObject;
  readonly validDays: readonly [number, number];
  readonly extension: Buffer;
}

function makeCertificate(content: Content): string {
  const { subject, issuer, publicKey, signedBy, validDays, extension } = content;
  const [from, to] = validDays;
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    // A leading 1 keeps the number positive.
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    nameOf(issuer),
    sequence(timeOf(from), timeOf(to)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension)),
  );
  const signature = sign('sha256', signed, signedBy);
  return toPem(sequence(signed, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature)));
}

/** Makes a certificate authority, whose certificates are good for TLS between processes of a test. */
export function createAuthority(name: string): Authority {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const certify = (
    content: Pick<Content, 'subject' | 'publicKey' | 'validDays' | 'extension'>,
  ): string => makeCertificate({ ...content, issuer: name, signedBy: own.privateKey });
  return {
    cert: certify({
      subject: name,
      publicKey: own.publicKey,
      validDays: [-1, 10],
      extension: isAuthority,
    }),
    issue(names, validDays = [-1, 10]) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const [subject = name] = names;
      return {
        cert: certify({ subject, publicKey, validDays, extension: alternativeNames(names) }),
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
  };
}
