import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { cutLine, oneLine } from '../../core/text/markdown.ts';
import { treePaths } from './paths.ts';
import { textOf } from './record-texts.ts';
import type { RecordTexts } from './record-texts.ts';
import { renderList } from './render-report-parts.ts';
import { resultLimits } from './limits.ts';
import type { SourceRef } from '../../contracts/transcript.ts';

/** Lists the reports of web research that a record names. */
export function listWebReports({ effects = [] }: RunRecord): readonly Ref[] {
  return effects.flatMap(({ state, receipt }) =>
    state === 'confirmed' && receipt?.web !== undefined ? [receipt.sha256] : [],
  );
}

/** Lists the pages that research opened, each with what it quotes. Null when there are none. */
export function renderSources(record: RunRecord, { web_reports }: RecordTexts): string | null {
  const sources = listWebReports(record).flatMap((ref) => textOf(web_reports, ref).source_refs);
  const options = { charsMax: resultLimits.lineCharsMax, whole: treePaths.effects };
  return renderList(
    '## Sources that were opened',
    sources.map((one) => cutLine(describeSource(one), options)),
    treePaths.effects,
  );
}

function describeSource({ url, title, quotation, retrieved_at }: SourceRef): string {
  const name = title === '' ? '' : `${oneLine(title)}: `;
  const quoted = quotation === '' ? '' : `\n"${oneLine(quotation)}"`;
  return `${name}${oneLine(url)} (read ${oneLine(retrieved_at)})${quoted}`;
}
