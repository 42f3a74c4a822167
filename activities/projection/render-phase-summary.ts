import type { PhaseSummary } from '../../contracts/phase-summary.ts';
import { bullets, cutLine } from './markdown.ts';
import { phaseLimits } from './phase-limits.ts';

/** What a phase of a triad leaves to the next one, or to whoever started it alone. */
export function renderPhaseSummary({ decisions, open_questions, artifacts }: PhaseSummary): string {
  return [
    '## Summary',
    '### Decisions',
    listEntries(decisions.map((one) => [one.section_id, one.decision])),
    '### Open questions',
    listEntries(open_questions.map((one) => [one.section_id, one.question])),
    '### Artifacts',
    listEntries(artifacts.map((one) => [one.section_id, one.artifact])),
  ].join('\n\n');
}

function listEntries(entries: readonly (readonly [sectionId: string | null, text: string])[]) {
  const lines = entries.map(([sectionId, text]) =>
    cutLine(sectionId === null ? text : `\`${sectionId}\`: ${text}`, {
      charsMax: phaseLimits.lineCharsMax,
      whole: 'the report',
    }),
  );
  return bullets(lines, '- None.');
}
