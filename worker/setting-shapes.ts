import { isIP } from 'node:net';
import { delimiter, resolve } from 'node:path';
import { z } from 'zod';

/** Accepts printable ASCII in one word: any other value breaks the header or the name that contains it. */
export function oneWord(expected: string) {
  return z.string().regex(/^[\u0021-\u007e]{1,1000}$/, expected);
}

/** Accepts a list of folders, separated like those of PATH. */
export function folders() {
  return z.string().transform((list) =>
    list
      .split(delimiter)
      .filter((path) => path !== '')
      .map((path) => resolve(path)),
  );
}

/** Accepts URLs of a protocol. */
export function address(protocol: RegExp, expected: string) {
  return z.url({ protocol, error: expected });
}

/** Accepts PostgreSQL databases. The host may be left out for a socket: `postgresql:///planwave?host=/var/run/postgresql`. */
export function database() {
  return address(
    /^postgres(?:ql)?$/,
    'postgresql://, a host and a database. It is not shown here, because it may hold a password. ' +
      'Try: postgresql://planwave@127.0.0.1:5432/planwave, or leave it empty for files in PLANWAVE_HOME',
  );
}

/** Accepts buckets of a service that speaks S3. */
export function bucket() {
  return z.string().refine((text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, hostname, username, searchParams } = new URL(text);
    const endpoint = searchParams.get('endpoint') ?? 'https://any';
    const isName = /^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/.test(hostname);
    const isEndpoint = URL.canParse(endpoint) && /^https?:/.test(endpoint);
    return protocol === 's3:' && isName && isEndpoint && username === '';
  }, 's3://, a bucket of 3 to 63 lower-case letters, digits, dots and hyphens, and no keys. Its service is the endpoint, or AWS. Try: s3://planwave/artifacts?endpoint=https://s3.example.com&region=eu-central-1');
}

/** Accepts a whole number, such as seconds, that `isGood` allows. */
export function wholeNumber(isGood: (count: number) => boolean, expected: string) {
  return z
    .string()
    .regex(/^\d{1,3}$/, expected)
    .transform(Number)
    .refine(isGood, expected);
}

/** Accepts addresses that the exporter can listen on: it resolves no names. */
export function isListenAddress(text: string): boolean {
  const [, host = '', port = ''] = /^\[?([\d.]+|[\da-fA-F:]+)\]?:(\d{1,5})$/.exec(text) ?? [];
  const isBracketed = text.startsWith('[') && text.includes(']');
  const isHost = isIP(host) === (isBracketed ? 6 : 4);
  return isHost && Number(port) >= 1 && Number(port) <= 65_535;
}
