import type { KeptDelegation } from '../../../contracts/thread.ts';
import { listTerms } from '../../../core/text/list-terms.ts';

/** Different words of a message that are looked for, the first of it. A longer one says at its beginning what it wants. */
const searchTermsMax = 100;

/** The words by which a delegation is found. */
export function wordsOf({ member_id, title, task, result }: KeptDelegation): readonly string[] {
  return listTerms([title, member_id, task, result].join('\n'));
}

/** The words of a query, each of letters, digits and marks alone. */
export function wordsSought(query: string): readonly string[] {
  return listTerms(query).slice(0, searchTermsMax);
}
