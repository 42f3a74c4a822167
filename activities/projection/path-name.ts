import { createHash } from 'node:crypto';

const plain = /^[a-z0-9][a-z0-9_-]{0,63}$/;
/** Names that Windows gives to devices, whatever extension follows. */
const device = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/;
const hashDigits = 32;
const prefixCharsMax = 24;

/**
 * A name for a file or folder that stands for `name` alone.
 *
 * A plain name (lower-case ASCII letters, digits, `-`, `_`, at most 64) is kept. Any other becomes `<readable
 * beginning>~<hash>`: no separator, dot, upper case or Unicode is left, so that two names which differ in a single code
 * unit differ on every file system. A plain name never holds `~`, so no name can pose as another one's encoding.
 *
 * @param reserved plain names that somebody else uses in the same folder.
 */
export function toPathName(name: string, reserved: readonly string[] = []): string {
  if (plain.test(name) && !device.test(name) && !reserved.includes(name)) return name;
  // UTF-16 keeps lone surrogates apart, which UTF-8 would fold into one replacement character.
  const hash = createHash('sha256').update(Buffer.from(name, 'utf16le')).digest('hex');
  return `${readableBeginning(name)}~${hash.slice(0, hashDigits)}`;
}

function readableBeginning(name: string): string {
  const words = name
    .slice(0, 4 * prefixCharsMax)
    .normalize('NFKD')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  const beginning = (words ?? [])
    .join('-')
    .slice(0, prefixCharsMax)
    .replace(/(?<!-)-+$/, '');
  return beginning === '' ? 'x' : beginning;
}
