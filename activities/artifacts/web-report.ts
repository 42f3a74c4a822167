import { z } from 'zod';
import type { Ref } from '../../contracts/ref.ts';
import type { WebReport } from '../../contracts/web.ts';
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
