import { createHash } from 'node:crypto';
import { engineLimits } from '../../../core/limits.ts';
import {
  WorkspaceRefused,
  type FileContent,
  type FileLines,
  type LineRange,
  type ReadLine,
} from '../../ports/workspaces.ts';
import { hashBytes } from '../../text/bytes.ts';
import type { OpenFile } from './open-file.ts';

/** @throws {WorkspaceRefused} for a file that is too large to be held in memory. */
export async function readWhole(file: OpenFile, shown: string): Promise<FileContent> {
  const { readFileBytesMax: max } = engineLimits;
  const content = await file.readAtMost(max + 1);
  if (content.byteLength > max) {
    throw new WorkspaceRefused(
      `${JSON.stringify(shown)} has more than ${max} bytes, the most that is taken as a whole. Try: some of its lines, by read_file with "from_line"; or a smaller file.`,
    );
  }
  return { content, sha256: hashBytes(content), bytes: content.byteLength };
}

/**
 * Reads lines of a file, of which all passes through: their number and the hash are those of the whole. Only the lines that are
 * asked for are kept, and of each its beginning.
 *
 * @throws {WorkspaceRefused} for a file that takes too long.
 */
export async function readLines(
  file: OpenFile,
  shown: string,
  range: LineRange,
): Promise<FileLines> {
  if (file.bytes > engineLimits.scannedFileBytesMax) throw refuseLong(shown);
  const digest = createHash('sha256');
  const lines = collectLines(range);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isText = true;
  let bytes = 0;
  for await (const part of file.parts()) {
    digest.update(part);
    bytes += part.byteLength;
    if (bytes > engineLimits.scannedFileBytesMax) throw refuseLong(shown);
    const text: string | null = isText ? decodePart(decoder, part) : null;
    isText = text !== null;
    if (text !== null) lines.add(text);
  }
  isText &&= decodePart(decoder, null) !== null;
  return { bytes, sha256: digest.digest('hex'), ...(isText ? lines.end() : { lines: null }) };
}

function refuseLong(shown: string): WorkspaceRefused {
  return new WorkspaceRefused(
    `${JSON.stringify(shown)} has more than ${engineLimits.scannedFileBytesMax} bytes, the most of a file of which lines are read. Try: run_command, if you have it, with a program that prints a part, such as {"argv":["sed","-n","1,200p",${JSON.stringify(shown)}]}.`,
  );
}

/** @param part Null for the end of the text. @returns null for bytes that are no UTF-8, or hold a NUL, as no text does. */
function decodePart(
  decoder: InstanceType<typeof TextDecoder>,
  part: Uint8Array | null,
): string | null {
  if (part?.includes(0) === true) return null;
  try {
    return part === null ? decoder.decode() : decoder.decode(part, { stream: true });
  } catch {
    return null;
  }
}

function collectLines({ from, charsMax, lineCharsMax }: LineRange) {
  const kept: ReadLine[] = [];
  let chars = 0;
  let total = 0;
  let line = { text: '', chars: 0, last: '' };
  const isKept = (): boolean => total + 1 >= from && chars < charsMax;
  const add = (text: string): void => {
    if (text === '') return;
    if (isKept() && line.text.length < lineCharsMax) {
      line.text += text.slice(0, lineCharsMax - line.text.length);
    }
    line.chars += text.length;
    line.last = text.at(-1) ?? '';
  };
  const endLine = (): void => {
    const length = line.chars - (line.last === '\r' ? 1 : 0);
    if (isKept()) {
      const text = line.text.slice(0, length);
      kept.push({ text, chars_left: length - text.length });
      chars += text.length + 1;
    }
    total += 1;
    line = { text: '', chars: 0, last: '' };
  };
  return {
    add(part: string): void {
      const [first = '', ...others] = part.split('\n');
      add(first);
      for (const next of others) {
        endLine();
        add(next);
      }
    },
    /** A last line break ends the last line, and begins no other. */
    end() {
      if (line.chars > 0) endLine();
      return { lines: kept, lines_total: total };
    },
  };
}
