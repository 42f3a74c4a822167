import { shareBytes } from '../../core/text/cut-text.ts';
import { countBytes } from '../tools/cut-bytes.ts';
import { blockBytesMax } from './block-limits.ts';
import { textBlock } from './blocks.ts';
import { cutAtSection } from './cut-at-section.ts';
import { loadWhole } from './packet-parts.ts';

/** What a delegation brought, whole. */
export interface Work {
  readonly delegation_id: string;
  readonly text: string;
}

/** The work of a wave for the one who decides on it: whole as far as there is room, then with how to load the rest. */
export function renderWork(works: readonly Work[]): string {
  const texts = works.map(({ text }) => text.trimEnd());
  const shares = shareBytes(texts.map(countBytes), blockBytesMax.work);
  const sections = works.map(({ delegation_id }, at) => {
    const text = cutAtSection(texts[at] ?? '', shares[at] ?? 0, loadWhole(delegation_id));
    return `# Work of ${delegation_id}\n\n${text}`;
  });
  return textBlock('work', sections.join('\n\n') || 'No delegation brought an output.', Infinity);
}
