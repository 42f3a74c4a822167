import type { OutputFault } from '../../contracts/output-fault.ts';
import { wholePath } from '../text/describe-issues.ts';

export type ReadCode =
  | { readonly ok: true; readonly code: string }
  | { readonly ok: false; readonly faults: readonly OutputFault[] };

/** A line that opens or closes a fence, as Markdown has it. */
const fenceLine = /^ {0,3}(?<mark>`{3,}|~{3,}(?!~))(?<rest>[^\n`]*)$/u;

/**
 * Reads a text that is to be code and nothing else. One fence around the whole is taken off. What stands inside it is
 * code, shorter fences included; whether it runs is not looked at (seed 001: validation happens elsewhere).
 *
 * Prose without a fence can't be told from code, so it passes.
 */
export function readCode(text: string): ReadCode {
  const lines = text
    .replace(/^(?:[^\S\n]*\n)+/u, '')
    .trimEnd()
    .split('\n');
  const mark = markOf(lines[0] ?? '');
  if (mark === null) {
    if (lines.some((line) => markOf(line) !== null)) return refuse(aroundFence, aloneHint);
    return take(lines);
  }
  const closing = lines.findIndex((line, at) => at > 0 && closes(line, mark));
  if (closing === -1) return refuse('the fence around the code has no end', aloneHint);
  if (closing < lines.length - 1) {
    return refuse('text or another fence follows the code', aloneHint);
  }
  return take(lines.slice(1, -1));
}

const aroundFence = 'text stands before a fence, so the reply is not code alone';
const aloneHint =
  'Try: give the code alone, and what has to be said as comments in it. Code that holds fences itself goes into one of four backticks.';

function markOf(line: string): string | null {
  return fenceLine.exec(line.trimEnd())?.groups?.['mark'] ?? null;
}

/** A fence ends with one of its own kind that is at least as long, and has no language. */
function closes(line: string, mark: string): boolean {
  const { groups } = fenceLine.exec(line.trimEnd()) ?? {};
  return groups !== undefined && groups['mark']?.startsWith(mark) === true && groups['rest'] === '';
}

function take(lines: readonly string[]): ReadCode {
  const code = lines.join('\n');
  if (code.trim() !== '') return { ok: true, code };
  return refuse('there is no code in the reply', 'Try: give the whole code of the section.');
}

function refuse(reason: string, hint: string): ReadCode {
  return { ok: false, faults: [{ path: wholePath, reason, hint }] };
}
