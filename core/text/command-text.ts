import { entryPoints } from './entry-points.ts';

/**
 * Builds commands that a person copies into a shell.
 *
 * Invariants:
 *   CM1. Each word of a command reaches its program exactly, whatever it contains.
 */

/** Calls the client. */
export const commandPrefix = entryPoints.client;

/** Quotes one word for a POSIX shell: unchanged when harmless, otherwise in single quotes. */
export function quoteWord(word: string): string {
  if (/^[A-Za-z0-9_@%+:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Builds a command of the client that can be pasted into a shell. */
export function commandText(...words: readonly string[]): string {
  return [commandPrefix, ...words.map(quoteWord)].join(' ');
}

/** Builds the Temporal CLI's command for a signal with a payload. */
export function signalCommand(runId: string, name: string, payload: object): string {
  const input = quoteWord(escapeUnseen(JSON.stringify(payload)));
  return `temporal workflow signal --workflow-id ${quoteWord(runId)} --name ${name} --input ${input}`;
}

/** Replaces characters that are invisible or reorder others by JSON escapes. */
function escapeUnseen(json: string): string {
  return json.replace(
    /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu,
    (character) => String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
