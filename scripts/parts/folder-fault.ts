import { accessSync, constants, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode, messageOf } from '../bootstrap/expected-error.mjs';

/** Bytes of the trial: on a disk with less room the server's next transaction fails. */
const trialBytes = 1_000_000;

/** Reason why nothing can be written to a folder, and what to do. */
export interface FolderFault {
  readonly detail: string;
  readonly cure: string;
}

/** @returns the fault in one line, or undefined when the folder can be written; creates it if it is missing */
export function describeFolderFault(folder: string): string | undefined {
  const fault = findFolderFault(folder);
  return fault && `${fault.detail}. Try: ${fault.cure}.`;
}

/** @returns undefined when the folder can be written; creates it if it is missing */
export function findFolderFault(folder: string): FolderFault | undefined {
  const trial = join(folder, `.trial-${process.pid}`);
  try {
    // Node reports a missing folder where it could not create one on a read-only disk.
    accessSync(nearestExisting(folder), constants.W_OK);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(trial, Buffer.alloc(trialBytes));
    return undefined;
  } catch (error) {
    const { cause, cure } = causes[errorCode(error) ?? ''] ?? unknown(error);
    return {
      detail: `${folder} can't be written: ${cause}`,
      cure: `${cure}, or set PLANWAVE_HOME to another folder`,
    };
  } finally {
    removeQuietly(trial);
  }
}

interface Cause {
  readonly cause: string;
  readonly cure: string;
}

const full: Cause = { cause: 'its disk is full', cure: 'free some disk space' };
const refused: Cause = {
  cause: 'this user has no permission',
  cure: 'change its owner or its permissions',
};
const blocked: Cause = {
  cause: 'a file is in its place or above it',
  cure: 'move that file away',
};

const causes: Readonly<Record<string, Cause>> = {
  EROFS: { cause: 'its file system is read-only', cure: 'mount it writable' },
  ENOSPC: full,
  EDQUOT: full,
  EACCES: refused,
  EPERM: refused,
  ENOTDIR: blocked,
  EEXIST: blocked,
};

function unknown(error: unknown): Cause {
  return { cause: messageOf(error), cure: 'remove the cause' };
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The fault that is reported already.
  }
}
