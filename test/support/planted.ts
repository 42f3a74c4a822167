import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Secrets planted in tests. None of them opens anything: they are generated when the test runs, so that no scanner of
 * repositories reports this file.
 */
const noise = (name: string, length: number): string =>
  createHash('sha512').update(name).digest('base64').replaceAll(/[+/=]/g, 'x').slice(0, length);

const keyLines = Array.from({ length: 8 }, (_, line) => noise(`key ${line}`, 64));

export const planted = {
  github: `ghp_${noise('github', 36)}`,
  awsKeyId: `AKIA${noise('aws id', 60)
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
    .slice(0, 16)}`,
  awsSecret: noise('aws secret', 40),
  anthropic: `sk-ant-api03-${noise('anthropic 1', 60)}${noise('anthropic 2', 33)}AA`,
  privateKey: [
    '-----BEGIN RSA PRIVATE KEY-----',
    `MIIE${keyLines.join('\n')}`,
    '-----END RSA PRIVATE KEY-----',
  ].join('\n'),
  /** No rule knows its form. */
  own: `planted-own-${noise('own', 24)}`,
} as const;

/** Texts that must not be found anywhere: the secrets, and of those of several lines each line. */
export const plantedPieces: readonly string[] = Object.values(planted).flatMap((secret) =>
  secret.split('\n').filter((line) => !line.startsWith('-----')),
);

/** Secret as it appears in a file of settings: only the name identifies it as one. */
export const awsSetting = `aws_secret_access_key = "${planted.awsSecret}"`;

/** Text that contains all of them. */
export const plantedText = [...Object.values(planted), awsSetting]
  .filter((secret) => secret !== planted.awsSecret)
  .join('\n');

/**
 * Finds planted secrets: in names and values, in bytes as text, in Base64 and in hexadecimal.
 *
 * @param where description of the value.
 * @returns one line for each place and secret, which names the secret by its first letters.
 */
export function findPlanted(where: string, what: unknown): string[] {
  const texts = [...textsOf(what)];
  return plantedPieces.flatMap((piece) => {
    const spellings = [
      piece,
      Buffer.from(piece).toString('hex'),
      // Without the ends, which depend on the surrounding bytes.
      Buffer.from(piece).toString('base64').slice(0, -4),
    ];
    return texts.some((text) => spellings.some((spelling) => text.includes(spelling)))
      ? [`${where}: ${piece.slice(0, 8)}…`]
      : [];
  });
}

/** Works like `findPlanted`, but searches the names and bytes of all files below a folder. */
export function findPlantedInFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return findPlanted(path, [entry.name, entry.isFile() ? readFileSync(path) : '']);
  });
}

/** Yields every text of a value; bytes are taken as UTF-8. */
export function* textsOf(value: unknown): Iterable<string> {
  if (typeof value === 'string') yield value;
  else if (value instanceof Uint8Array) yield Buffer.from(value).toString('utf8');
  else if (typeof value === 'object' && value !== null) {
    for (const [name, entry] of Object.entries(value)) {
      yield name;
      yield* textsOf(entry);
    }
  }
}
