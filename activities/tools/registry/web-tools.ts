import { z } from 'zod';
import type { Ref } from '../../../contracts/ref.ts';
import { isPerson } from '../../../core/questions/answer-kinds.ts';
import { engineLimits } from '../../../core/limits.ts';
import { cutMiddle, cutText } from '../../../core/text/cut-text.ts';
import { listNames } from '../../../core/text/list-names.ts';
import { readRecord } from '../../artifacts/record-log.ts';
import { readWebReport } from '../../artifacts/read-reports.ts';
import type { ArtifactStore } from '../../ports/artifact-store.ts';
import { splitPages } from '../../text/bytes.ts';
import type { PageFetcher } from '../../ports/page-fetcher.ts';
import type { ReadingTool, ResearchContext, ResearchTool } from '../tool.ts';

/**
 * Returns the addresses that may not be opened: neither people nor the sources of earlier research name them, in the
 * record or in the conversation.
 */
async function listUnknown(
  urls: readonly string[],
  { store, record_ref, listAddresses }: ResearchContext,
): Promise<readonly string[]> {
  let unknown = urls;
  for (const list of [() => readKnownTexts(store, record_ref), listAddresses]) {
    if (unknown.length === 0) return [];
    // The conversation is read only for an address that the record does not have.
    // oxlint-disable-next-line no-await-in-loop
    const known = await list();
    unknown = unknown.filter((url) => !known.some((text) => text.includes(url)));
  }
  return unknown;
}

async function readKnownTexts(store: ArtifactStore, recordRef: Ref): Promise<readonly string[]> {
  const record = await readRecord(store, recordRef);
  const { goal, constraints, instructions, answered_questions, effects = [] } = record;
  const reports = effects.flatMap(({ receipt }) =>
    receipt?.web === undefined ? [] : [receipt.sha256],
  );
  const sources = await Promise.all(reports.map((ref) => readWebReport(store, ref)));
  return [
    goal,
    ...constraints,
    ...instructions,
    ...answered_questions
      .filter(({ answered_by }) => isPerson(answered_by))
      .map(({ answer }) => answer ?? ''),
    ...sources.flatMap(({ source_refs }) => source_refs.map(({ url }) => url)),
  ];
}

export const fetchPageName = 'fetch_page';

const FetchPageInput = z.strictObject({
  url: z
    .url({ protocol: /^https?$/u })
    .max(2_000)
    .describe('An address that the user or a search named.'),
  page: z.number().int().min(1).default(1).describe('From 1.'),
});

/** Bytes of a page's part: nearly all that a result may have, because each part is fetched anew. */
const partBytes = 90_000;

/** Characters of a page's title. */
const titleCharsMax = 500;

/** Creates the tool that opens a page of an allowed host. */
export function createFetchPage(fetcher: PageFetcher): ReadingTool {
  return {
    spec: {
      name: fetchPageName,
      description:
        'Opens one page of an allowed host and returns it as Markdown. Long ones come in pages of 90 KB. ' +
        'Example: {"url":"https://nodejs.org/en/about","page":1}',
      input: FetchPageInput,
    },
    effect: 'read',
    loads: true,
    brings: ['untrusted_text'],
    offeredTo: ['agents'],
    listInputs: ({ url }) => [url],
    async run(input, context) {
      const { signal, onLoaded } = context;
      const { url, page: asked } = FetchPageInput.parse(input);
      const unknown = await listUnknown([url], context);
      if (unknown.length > 0) {
        throw new Error(
          'An address carries data out, and nothing that the user wrote or a search found contains this one. Try: an address from there.',
        );
      }
      const page = await fetcher.fetch(url, signal);
      const parts = splitPages(page.text_md, partBytes);
      const text = parts[asked - 1];
      if (text === undefined) {
        throw new Error(`it has ${parts.length} page(s). Try: "page":${parts.length}`);
      }
      onLoaded(cutMiddle(page.url, engineLimits.detailIdCharsMax));
      const read_at = new Date().toISOString();
      const title = cutText(page.title, titleCharsMax);
      const head = `${JSON.stringify({ url: page.url, title, read_at })}\n\n${text}`;
      if (parts.length === 1) return head;
      const next = asked < parts.length ? ` The next one: "page":${asked + 1}` : '';
      return `${head}\n[Page ${asked} of ${parts.length}.${next}]`;
    },
  };
}

export const webResearchName = 'web_research';

/** Characters of a question as people read it. */
const targetCharsMax = 120;

export const WebResearchInput = z.strictObject({
  question: z
    .string()
    .trim()
    .min(1)
    .max(1_000)
    .describe('One question that stands alone, without names or data of the user.'),
  urls: z
    .array(
      z
        .string()
        .max(500)
        .regex(/^https?:\/\/[^\s]+$/u, 'expected an address that begins with https:// or http://'),
    )
    .max(5)
    .default([])
    .describe('Pages to open first: addresses that the user or an earlier search named.'),
});
export type WebResearchInput = z.infer<typeof WebResearchInput>;

/**
 * Asks the web by a model call of its own with the provider's search and fetch. Only question and addresses go out, and the
 * pages never meet the agent's tools.
 */
export const webResearch: ResearchTool = {
  spec: {
    name: webResearchName,
    description:
      'Searches the web for one question, opens pages and returns an answer with source_refs: address, title, quotation and time. ' +
      'The question leaves the run, so it holds nothing private. It costs money: ask for what you do not know. ' +
      'Example: {"question":"Which LTS release of Node.js is current?"}',
    input: WebResearchInput,
  },
  effect: 'research',
  approval: 'by_risk',
  brings: ['untrusted_text', 'acts_outside'],
  offeredTo: ['agents'],
  listInputs: ({ urls }) => (Array.isArray(urls) ? urls : []),
  targetOf: (input) => cutText(WebResearchInput.parse(input).question, targetCharsMax),
  async findRefusal(input, context) {
    const unknown = await listUnknown(WebResearchInput.parse(input).urls, context);
    if (unknown.length === 0) return null;
    return (
      `${webResearchName} was not called: an address carries data out, and nothing that the user wrote or a search found ` +
      `contains ${listNames(unknown.map((url) => cutText(url, 120)))}. Try: ask the question without urls.`
    );
  },
};
