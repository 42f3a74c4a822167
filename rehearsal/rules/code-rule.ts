import type { MessagesRequest } from '../messages-api.ts';
import { textIn } from './blocks.ts';

/** Whether a request asks for a section as code and nothing else. */
export function asksForCode(request: MessagesRequest): boolean {
  return /<request[^<>]*\skind="code"/u.test(textIn(request.messages[0]?.blocks ?? []));
}

/** The rehearsed code of any section: a member asks for TypeScript. */
export const rehearsedCode = `// Rehearsal: a rule wrote these lines, no model was called.
export function rehearse(): string {
  return 'rehearsal';
}
`;
