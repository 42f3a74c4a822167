import { z } from 'zod';
import { cutText } from '../../../core/text/cut-text.ts';
import { isPerson } from '../../../core/questions/answer-kinds.ts';
import { listNames } from '../../../core/text/list-names.ts';
import { readRecord } from '../../artifacts/record-log.ts';
import { readWebReport } from '../../artifacts/web-report.ts';
import type { ArtifactStore } from '../../ports/artifact-store.ts';
import type { Ref } from '../../../contracts/ref.ts';
import type { ResearchTool } from '../tool.ts';

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
  async findRefusal(input, { store, record_ref, listEarlier }) {
    const { urls } = WebResearchInput.parse(input);
    if (urls.length === 0) return null;
    const known = [...(await readKnownTexts(store, record_ref)), ...(await listEarlier())];
    const unknown = urls.filter((url) => !known.some((text) => text.includes(url)));
    if (unknown.length === 0) return null;
    return (
      `${webResearchName} was not called: an address carries data out, and nothing that the user wrote or a search found ` +
      `contains ${listNames(unknown.map((url) => cutText(url, 120)))}. Try: ask the question without urls.`
    );
  },
};

/** Reads the texts whose addresses may be opened: those of people, and earlier reports. */
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
