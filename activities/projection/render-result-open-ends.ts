import type { RunRecord } from '../../contracts/run-record.ts';
import { normaliseText } from '../../core/text/cut-text.ts';
import { listDeliverables } from './list-deliverables.ts';
import { bullets, cutLine } from './markdown.ts';
import { treePaths } from './paths.ts';
import { textOf } from './record-texts.ts';
import type { RecordTexts } from './record-texts.ts';
import { resultLimits } from './result-limits.ts';
import { standingAssumptions } from './standing-assumptions.ts';

/** What the result does not settle: questions without an answer, and assumptions it rests on. Empty parts are null. */
export function renderOpenEnds(record: RunRecord, texts: RecordTexts): readonly (string | null)[] {
  return [
    renderList('## Questions that were still open', openQuestions(record), treePaths.questions),
    renderList(
      '## Optional questions that nobody answered',
      optionalQuestions(record, texts),
      'agents/<agent>/task_output/',
    ),
    renderList('## Assumptions that stand', assumptions(record), treePaths.pool),
    renderList('## Work that rests on what no longer holds', stale(record), treePaths.pool),
  ];
}

function openQuestions(record: RunRecord): readonly string[] {
  return record.open_questions.map((one) =>
    cutLine(`\`${one.question_id}\`: ${one.text}`, {
      charsMax: resultLimits.lineCharsMax,
      whole: treePaths.questions,
    }),
  );
}

function optionalQuestions(record: RunRecord, texts: RecordTexts): readonly string[] {
  const settled = new Set(
    [...record.answered_questions, ...record.open_questions].map((one) => normaliseText(one.text)),
  );
  return listDeliverables(record).flatMap((one) =>
    textOf(texts.outputs, one.output_ref).optional_questions.flatMap((question) => {
      const text = normaliseText(question.text);
      if (settled.has(text)) return [];
      settled.add(text);
      const assumed =
        question.default_answer === null ? '' : ` Assumed: ${question.default_answer}`;
      return [
        cutLine(`${question.text}${assumed} (${one.delegation_id})`, {
          charsMax: resultLimits.lineCharsMax,
          whole: `artifact ${one.output_ref}`,
        }),
      ];
    }),
  );
}

function assumptions(record: RunRecord): readonly string[] {
  return standingAssumptions(record).map((fact) =>
    cutLine(
      `${fact.statement} (${fact.confidence} confidence, ${fact.source_refs[0] ?? fact.origin})`,
      {
        charsMax: resultLimits.lineCharsMax,
        whole: treePaths.pool,
      },
    ),
  );
}

function stale(record: RunRecord): readonly string[] {
  return record.stale
    .filter(({ redone_by }) => redone_by === null)
    .map(({ delegation_id, reasons }) => `\`${delegation_id}\`: ${reasons.join('; ')}`);
}

function renderList(heading: string, entries: readonly string[], rest: string): string | null {
  if (entries.length === 0) return null;
  const shown = entries.slice(0, resultLimits.listEntriesMax);
  const more = entries.length - shown.length;
  const tail = more === 0 ? '' : `\n- … and ${more} more: ${rest}`;
  return `${heading}\n\n${bullets(shown, '')}${tail}`;
}
