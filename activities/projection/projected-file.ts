import type { RecordChange } from '../../contracts/run-record.ts';
import type { RecordTexts, TextRefs } from './record-texts.ts';

/** One file of a run's tree: where it is, what its rendering needs, and what makes it change. */
export interface ProjectedFile {
  readonly path: string;
  readonly needs: TextRefs;
  /** Whether this change can make the file differ. */
  readonly changesWith: (change: RecordChange) => boolean;
  readonly render: (texts: RecordTexts) => string;
  /** Files that only what it needs knows of. If undefined, there are none. */
  readonly below?: (texts: RecordTexts) => readonly ProjectedFile[];
}
