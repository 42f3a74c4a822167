import { createHash } from 'node:crypto';
import { engineLimits } from '../../../core/limits.ts';
import {
  WorkspaceRefused,
  type FileContent,
  type FileLines,
  type LineRange,
} from '../../ports/workspaces.ts';
import { hashBytes } from '../../text/bytes.ts';
import type { OpenFile } from './open-file.ts';

/** Takes secrets out of the lines of a text, and keeps their number. */
export type RedactLines = (lines: readonly string[]) => readonly string[];

/**
 * Characters that are read before and after what is shown, and beyond the end of a line that is cut: a secret that
 * crosses such an edge is known only as a whole. More than the longest one has, however it is spelled.
 */
export const redactedAroundChars = 64_000;

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
 * asked for are kept, and of each its beginning. Secrets are taken out before that is cut.
 *
 * @throws {WorkspaceRefused} for a file that takes too long.
 */
export async function readLines(
  file: OpenFile,
  shown: string,
  range: LineRange,
  redact: RedactLines,
): Promise<FileLines> {
  if (file.bytes > engineLimits.scannedFileBytesMax) throw refuseLong(shown);
  const digest = createHash('sha256');
  const lines = collectLines(range, redact);
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

interface KeptLine {
  readonly text: string;
  /** Characters of the whole line. */
  readonly length: number;
}

function collectLines({ from, charsMax, lineCharsMax }: LineRange, redact: RedactLines) {
  const parts = { before: createWindow(), shown: [] as KeptLine[], after: createWindow() };
  let chars = 0;
  let total = 0;
  let line = { text: '', chars: 0, last: '' };
  const keptCharsMax = lineCharsMax + redactedAroundChars;
  const add = (text: string): void => {
    if (text === '') return;
    if (line.text.length < keptCharsMax)
      line.text += text.slice(0, keptCharsMax - line.text.length);
    line.chars += text.length;
    line.last = text.at(-1) ?? '';
  };
  const endLine = (): void => {
    const length = line.chars - (line.last === '\r' ? 1 : 0);
    const text = line.text.slice(0, length);
    if (total + 1 < from) parts.before.push(text);
    else if (chars >= charsMax) parts.after.pushIfRoom(text);
    else {
      parts.shown.push({ text, length });
      chars += Math.min(length, lineCharsMax) + 1;
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
      const before = parts.before.lines();
      const shown = parts.shown.map(({ text }) => text);
      const redacted = redact([...before, ...shown, ...parts.after.lines()]).slice(before.length);
      const lines = parts.shown.map(({ text: raw, length }, at) => {
        const whole = redacted[at] ?? '';
        const text = whole.slice(0, lineCharsMax);
        return { text, chars_left: length - raw.length + whole.length - text.length };
      });
      return { lines, lines_total: total };
    },
  };
}

/** Keeps lines around what is shown: with `push` the newest, with `pushIfRoom` the first. */
function createWindow() {
  const kept: string[] = [];
  let first = 0;
  let chars = 0;
  return {
    push(line: string): void {
      kept.push(line);
      chars += line.length + 1;
      for (; chars > redactedAroundChars && first < kept.length - 1; first += 1) {
        chars -= (kept[first] ?? '').length + 1;
        kept[first] = '';
      }
      // A long file has many lines: those that are gone are removed together.
      if (first > redactedAroundChars) {
        kept.splice(0, first);
        first = 0;
      }
    },
    pushIfRoom(line: string): void {
      if (chars > redactedAroundChars) return;
      kept.push(line);
      chars += line.length + 1;
    },
    lines: (): string[] => kept.slice(first),
  };
}
