import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const pollEveryMs = 500;

/**
 * Shows what is appended to a file, line by line. Follows the name: a file that is replaced is read from its start.
 *
 * @returns stops following
 */
export function followFile(path: string, show: (line: string) => void): () => void {
  let offset = 0;
  let inode = 0;
  let partial = '';
  const look = () => {
    const file = openOrUndefined(path);
    if (file === undefined) return;
    try {
      const { ino, size } = fstatSync(file);
      if (ino !== inode) offset = 0;
      inode = ino;
      if (size <= offset) return;
      const bytes = Buffer.alloc(size - offset);
      offset += readSync(file, bytes, 0, bytes.length, offset);
      const lines = (partial + bytes.toString('utf8')).split('\n');
      partial = lines.pop() ?? '';
      for (const line of lines) show(line);
    } finally {
      closeSync(file);
    }
  };
  const timer = setInterval(look, pollEveryMs);
  return () => {
    clearInterval(timer);
    look();
  };
}

function openOrUndefined(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}
