import { z } from 'zod';
import type { PageFetcher } from '../../ports/page-fetcher.ts';
import { readKnownTexts } from '../known-addresses.ts';
import type { ReadingTool } from '../tool.ts';

export const fetchPageName = 'fetch_page';

const FetchPageInput = z.strictObject({
  url: z
    .url({ protocol: /^https?$/u })
    .max(2_000)
    .describe('An address that the user or a search named.'),
});

/** Creates the tool that opens a page of an allowed host. */
export function createFetchPage(fetcher: PageFetcher): ReadingTool {
  return {
    spec: {
      name: fetchPageName,
      description:
        'Opens one page of an allowed host and returns it as Markdown. Example: {"url":"https://nodejs.org/en/about"}',
      input: FetchPageInput,
    },
    effect: 'read',
    brings: ['untrusted_text'],
    offeredTo: ['agents'],
    listInputs: ({ url }) => [url],
    async run(input, { store, record_ref, signal, onLoaded }) {
      const { url } = FetchPageInput.parse(input);
      const known = await readKnownTexts(store, record_ref);
      if (!known.some((text) => text.includes(url))) {
        throw new Error(
          'An address carries data out, and nothing that the user wrote or a search found contains this one. Try: an address from there.',
        );
      }
      const page = await fetcher.fetch(url, signal);
      onLoaded(page.url);
      const read_at = new Date().toISOString();
      return `${JSON.stringify({ url: page.url, title: page.title, read_at })}\n\n${page.text_md}`;
    },
  };
}
