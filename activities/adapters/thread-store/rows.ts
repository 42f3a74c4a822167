import { z } from 'zod';
import { PastDelegation } from '../../../contracts/thread.ts';
import type { KeptDelegation, ThreadHistory } from '../../../contracts/thread.ts';
import type { FoundDelegation, FoundDelegations } from '../../ports/thread-store.ts';

/** Rows of both databases. A row may have been written by another version, or by a person. */

const MessageRow = z.object({
  message: z.string(),
  answer: z.string().nullable(),
  at: z.number(),
});

const DelegationRow = z.object({ run_id: z.string(), task_id: z.string(), body: z.string() });

/**
 * @param rows Newest first.
 * @returns the newest messages and answers, oldest first. Unreadable rows are skipped.
 */
export function readMessages(rows: readonly unknown[], max: number): ThreadHistory['messages'] {
  const messages = rows.toReversed().flatMap((row): ThreadHistory['messages'] => {
    const read = MessageRow.safeParse(row);
    if (!read.success) return [];
    const { message, answer, at } = read.data;
    return [
      { role: 'user', text: message, at },
      ...(answer === null ? [] : [{ role: 'assistant' as const, text: answer, at }]),
    ];
  });
  return messages.slice(-max);
}

/** Reads delegations in the order of the rows. */
export function readDelegations(rows: readonly unknown[]): FoundDelegations {
  const delegations = rows.map(readDelegation).filter((one) => one !== null);
  return { delegations, unreadable: rows.length - delegations.length };
}

function readDelegation(row: unknown): FoundDelegation | null {
  const read = DelegationRow.safeParse(row);
  if (!read.success) return null;
  const { run_id, task_id, body } = read.data;
  const delegation = readBody(body);
  return delegation === null ? null : { key: JSON.stringify([run_id, task_id]), delegation };
}

/** Reads the text of `writeBody`; null when it can't be read. */
export function readBody(body: string): PastDelegation | null {
  const read = PastDelegation.safeParse(parse(body));
  return read.success ? read.data : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** Writes a delegation for `readBody`. */
export function writeBody(delegation: KeptDelegation): string {
  const { member_id, title, task, status, result, at } = delegation;
  return JSON.stringify({ member_id, title, task, status, result, at } satisfies PastDelegation);
}

/** Replaces NUL characters: PostgreSQL refuses them, and SQLite hides the text behind one. */
export function storable<T extends string | null>(text: T): T | string {
  return text === null ? text : text.replaceAll('\0', '\ufffd');
}
