/**
 * Where an agent may write: a path that a model made up, read as a place below the run's workspace or refused.
 *
 * Invariants:
 *   WP1. What is accepted is a place strictly below the workspace on every system: no part is empty, `.`, `..`, hidden,
 *        absolute, a drive, a stream or a device.
 *   WP2. No control character, line break, direction mark or half surrogate pair is in an accepted path.
 *   WP3. Two names that a file system may take for one have the same fold.
 *   WP4. A refusal says what was expected and "Try: …".
 */
import { cutText } from '../text/cut-text.ts';

export type CheckedPath =
  /** From the workspace down; the last one is the file. */
  | { readonly ok: true; readonly parts: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** Characters of a path. Receipts, questions and claims repeat it. */
export const workspacePathCharsMax = 200;

/** Folders and file. Deeper trees are a model that went astray. */
const partsMax = 10;

/** Bytes of a file name that every common file system takes. */
const partBytesMax = 200;

/** What some system takes for a separator, a drive, a stream or a pattern; and what people can't see. */
const forbidden = /[\p{C}\u2028\u2029\\:*?"<>|]/u;

/** Names that Windows gives to devices, whatever extension follows. */
const device = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

const cure = 'Try: a path below the workspace, such as "reports/summary.md".';

export function checkWorkspacePath(path: string): CheckedPath {
  const shown = JSON.stringify(cutText(path, 80));
  if (path.length > workspacePathCharsMax) {
    return refuse(
      `${shown} has ${path.length} characters, at most ${workspacePathCharsMax}. ${cure}`,
    );
  }
  const parts = path.split('/');
  if (parts.length > partsMax) {
    return refuse(`${shown} has ${parts.length} levels, at most ${partsMax}. ${cure}`);
  }
  for (const part of parts) {
    const fault = findPartFault(part);
    if (fault !== null) return refuse(`${shown} can't be written: ${fault}. ${cure}`);
  }
  return { ok: true, parts };
}

/** For comparing names, never for showing: equal wherever case and Unicode forms are taken for one. */
export function foldFileName(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}

/** @returns what is wrong with one name, or null. */
function findPartFault(part: string): string | null {
  if (part === '') return 'a part of it is empty, or it begins or ends with "/"';
  if (part.startsWith('.')) return 'a part of it begins with "."';
  if (part.endsWith('.') || part !== part.trim()) return 'a part of it ends with "." or a space';
  if (forbidden.test(part)) return 'it has a character that file names must not have';
  if (part !== part.normalize('NFC')) return 'it is not in Unicode form NFC';
  if (device.test(part)) return 'a part of it is the name of a device';
  return countUtf8Bytes(part) > partBytesMax
    ? `a part of it has more than ${partBytesMax} bytes`
    : null;
}

/** `part` has no half surrogate pairs. */
function countUtf8Bytes(part: string): number {
  return Array.from(part).reduce((bytes, char) => bytes + bytesOf(char.codePointAt(0) ?? 0), 0);
}

function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

function refuse(reason: string): CheckedPath {
  return { ok: false, reason };
}
