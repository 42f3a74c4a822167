import { isIP } from 'node:net';
import { delimiter, resolve } from 'node:path';
import { z } from 'zod';
import { BadKeys, readKeyRing } from '../encryption/key-ring.ts';

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

/** Accepts a whole number of seconds that `isGood` allows. */
export function seconds(isGood: (count: number) => boolean, expected: string) {
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

/** Reads a key ring. No fault holds a key. */
export function keyRing() {
  return z.string().transform((text, context) => {
    try {
      return readKeyRing(text);
    } catch (error) {
      if (!(error instanceof BadKeys)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
      return z.NEVER;
    }
  });
}
