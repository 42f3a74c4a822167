import { type Block, type MessagesRequest, cutText, textOf } from '../messages-api.ts';
import type { ContentReply } from '../script.ts';
import { textIn } from './prompt.ts';

/** Time of every rehearsed page: the same request has the same answer. */
const readAt = '2026-01-01T00:00:00Z';

/**
 * Answers like a model that searched once and opened each address of the request. No page is opened: every title and
 * citation says "rehearsed".
 *
 * @returns null for a request without the provider's own search.
 */
export function answerFromWeb(request: MessagesRequest): ContentReply | null {
  if (!request.tools.some((tool) => textOf(tool['type']).startsWith('web_search_'))) return null;
  const text = textIn(request.messages[0]?.blocks ?? []);
  const question = /<request[^<>]*>\n([^<]*)\n<\/request>/u.exec(text)?.[1] ?? text;
  const urls = text.slice(text.indexOf('</request>')).match(/https?:\/\/\S+/gu) ?? [];
  const found = 'https://rehearsed.example/1';
  const quoted = `Rehearsed: a page about ${cutText(question, 80)}`;
  const citation = {
    type: 'web_search_result_location',
    url: found,
    title: 'Rehearsed page 1',
    cited_text: quoted,
    encrypted_index: 'rehearsed',
  };
  return {
    content: [
      ...search(question, found),
      ...urls.flatMap(fetchPage),
      {
        type: 'text',
        text: `Rehearsed answer to: ${cutText(question, 200)}`,
        citations: [citation],
      },
    ],
  };
}

const caller = { type: 'direct' } as const;

function search(question: string, url: string): readonly Block[] {
  const id = 'srvtoolu_rehearsal_search';
  const result = {
    type: 'web_search_result',
    url,
    title: 'Rehearsed page 1',
    page_age: null,
    encrypted_content: 'rehearsed',
  };
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query: question }, caller },
    { type: 'web_search_tool_result', tool_use_id: id, content: [result], caller },
  ];
}

function fetchPage(url: string, index: number): readonly Block[] {
  const id = `srvtoolu_rehearsal_fetch_${index + 1}`;
  const source = { type: 'text', media_type: 'text/plain', data: 'Rehearsed: no page was opened.' };
  const document = { type: 'document', source, title: `Rehearsed page of ${url}` };
  const content = { type: 'web_fetch_result', url, retrieved_at: readAt, content: document };
  return [
    { type: 'server_tool_use', id, name: 'web_fetch', input: { url }, caller },
    { type: 'web_fetch_tool_result', tool_use_id: id, content, caller },
  ];
}
