import type { MessagesRequest } from '../messages-api.ts';
import { textIn } from './blocks.ts';

/** Returns true for a request of a section as code alone. */
export function asksForCode(request: MessagesRequest): boolean {
  return /<request[^<>]*\skind="code"/u.test(textIn(request.messages[0]?.blocks ?? []));
}

/** Rehearsed code of every section, in TypeScript. */
export const rehearsedCode = `// Rehearsal: a rule wrote these lines, no model was called.
export function rehearse(): string {
  return 'rehearsal';
}
`;
