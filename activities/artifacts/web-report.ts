import { z } from 'zod';
import type { Ref } from '../../contracts/ref.ts';
import type { Message, SourceRef, WebReport } from '../../contracts/transcript.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readShape } from './read-artifact.ts';

const StoredReport = z.object({
  question: z.string(),
  answer_md: z.string(),
  source_refs: z.array(
    z.object({
      url: z.string(),
      title: z.string(),
      quotation: z.string(),
      retrieved_at: z.string(),
    }),
  ),
  searches: z.number(),
  opened: z.number(),
  errors: z.array(z.string()),
}) satisfies z.ZodType<WebReport>;

/** @throws ArtifactCorrupt when it is missing, damaged or of another shape. */
export function readWebReport(store: ArtifactStore, ref: Ref): Promise<WebReport> {
  return readShape(store, ref, StoredReport, 'a report of web research');
}

/**
 * Lists the pages that the web research of a conversation returned. A result stands in it as JSON between the marks of
 * data; one that was left out for length names none.
 */
export function readOpenedSources(messages: readonly Message[]): readonly SourceRef[] {
  const blocks = messages.flatMap(({ content }) => content);
  return blocks.flatMap((block) =>
    block.type === 'tool_result' && !block.is_error ? readReportIn(block.content) : [],
  );
}

function readReportIn(text: string): readonly SourceRef[] {
  try {
    const json: unknown = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
    return StoredReport.safeParse(json).data?.source_refs ?? [];
  } catch {
    return [];
  }
}
