/**
 * Checks a path that a model chose, for writing or for reading. It must name a place below the run's workspace.
 *
 * Invariants:
 *   WP1. A path accepted for writing is strictly below the workspace on every system: no part is empty, `.`, `..`,
 *        hidden, absolute, a drive, a stream or a device.
 *   WP2. An accepted path has no control character, line break, direction mark or half surrogate pair.
 *   WP3. Two names that a file system may treat as one have the same fold.
 *   WP4. A refusal says what was expected and "Try: …".
 *   WP5. A path accepted for reading may be hidden and deep, but has no part `.`, `..`, `.git` or `.env…`, in any
 *        spelling that some file system takes for these.
 */
import { cutText } from '../text/cut-text.ts';

type CheckedPath =
  /** Names from the workspace down; the last one is the file. */
  | { readonly ok: true; readonly parts: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** Most characters of a path. Receipts, questions and claims repeat it. */
export const workspacePathCharsMax = 200;

/** Most folders and file together. A deeper tree is a mistake of the model. */
const partsMax = 10;

/** Most bytes of a file name that every common file system accepts. */
const partBytesMax = 200;

/** Characters that some system treats as a separator, drive, stream or pattern, and invisible ones. */
const forbidden = /[\p{C}\u2028\u2029\\:*?"<>|]/u;

/** Names that Windows reserves for devices, with any extension. */
const device = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/** Most characters, and most parts, of a path that is read. */
export const readPathCharsMax = 1_000;
const readPartsMax = 64;

/** Characters that some system treats as a separator, drive or stream, and invisible ones. */
const forbiddenInReading = /[\p{C}\u2028\u2029\\:]/u;

/** Git's own data under any name: Windows also calls it `git~1`. */
const gitFolder = /^(?:\.git|git~[0-9])$/u;

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

/**
 * Checks a path for reading: more may be read than written, but neither git's own data nor files that hold secrets by
 * custom.
 *
 * @param path Empty or "." for the workspace itself.
 * @param isGranted Returns true for a path that may be read although it is private. Git's own data never may.
 */
export function checkReadPath(
  path: string,
  isGranted: (parts: readonly string[]) => boolean = () => false,
): CheckedPath {
  const shown = JSON.stringify(cutText(path, 80));
  if (path === '' || path === '.') return { ok: true, parts: [] };
  const parts = plainPath(path).split('/');
  if (path.length > readPathCharsMax || parts.length > readPartsMax) {
    return refuse(
      `${shown} is too long: at most ${readPathCharsMax} characters and ${readPartsMax} levels. ${cure}`,
    );
  }
  const granted = isGranted(parts);
  for (const part of parts) {
    const fault = findReadFault(part, granted);
    if (fault !== null) return refuse(`${shown} can't be read: ${fault}. ${cure}`);
  }
  return { ok: true, parts };
}

/** Returns true for a name that agents may neither list nor read. */
export function isPrivateName(name: string): boolean {
  return isGitName(name) || foldName(name).startsWith('.env');
}

/** Returns true for a name of git's own data, which is never granted. */
export function isGitName(name: string): boolean {
  return gitFolder.test(foldName(name));
}

/** Folds a name like the systems that drop dots and spaces at its end. */
function foldName(name: string): string {
  return foldFileName(name).replace(/(?<![. ])[. ]+$/u, '');
}

/** @returns the fault of one name, or null. @param granted True when only git's own names are private. */
function findReadFault(part: string, granted: boolean): string | null {
  if (part === '') return 'a part of it is empty, or it begins with "/"';
  if (part === '.' || part === '..') return 'a part of it is "." or ".."';
  if (forbiddenInReading.test(part)) return 'it has a character that names must not have';
  const isPrivate = granted ? isGitName(part) : isPrivateName(part);
  return isPrivate ? `"${cutText(part, 40)}" is private` : null;
}

/** Folds a name for comparison, never for display: names that differ only in case or Unicode form become equal. */
export function foldFileName(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}

/** @returns the fault of one name, or null. */
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

/** Counts bytes without an encoder. `part` has no half surrogate pairs. */
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

/** Returns a path without "./" before it and "/" after it: "./src/" is the same place as "src". */
export function plainPath(path: string): string {
  return path.replace(/^\.\//u, '').replace(/\/$/u, '');
}

/** Returns the reason of a refusal without what to try. */
export function withoutCure(reason: string): string {
  return reason.split('. Try: ', 1).join('');
}
