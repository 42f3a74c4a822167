import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { StoredHistory } from './histories.ts';

/**
 * Finds a text in what a run left behind: files of the home, by their relative paths, and payloads of histories, by
 * their workflow.
 *
 * @param text in letters, digits and blanks, so that no encoding changes it.
 */
export function findTraces(
  home: string,
  histories: readonly StoredHistory[],
  text: string,
): string[] {
  const inHistories = histories
    .filter(({ history }) => holdsText(history, text))
    .map(({ workflowId }) => workflowId);
  return [...filesWith(home, text), ...inHistories];
}

function filesWith(home: string, text: string): string[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))
    .map((path) => relative(home, path));
}

/** Returns true when a value contains the text. Payloads are bytes; failures hold texts of their own. */
function holdsText(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value.includes(text);
  if (value instanceof Uint8Array) return Buffer.from(value).includes(text);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((one) => holdsText(one, text));
}
