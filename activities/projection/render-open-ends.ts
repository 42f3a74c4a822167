import { assumingAnswerers } from '../../contracts/names.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { normaliseText } from '../../core/text/cut-text.ts';
import { listDeliverables } from '../../core/run/list-deliverables.ts';
import { cutLine } from '../../core/text/markdown.ts';
import { treePaths } from './paths.ts';
import { textOf, type RecordTexts } from './record-texts.ts';
import { listDisagreed, renderList } from './render-report-parts.ts';
import { resultLimits } from './limits.ts';
import { normaliseValue } from '../../core/pool/admit-facts.ts';
import type { Fact } from '../../contracts/agent-output.ts';

/** Lists what the result leaves open: unanswered questions and assumptions. Empty parts are null. */
export function renderOpenEnds(record: RunRecord, texts: RecordTexts): readonly (string | null)[] {
  return [
    renderList('## Questions that were still open', openQuestions(record), treePaths.questions),
    renderList(
      '## Information that was asked for and never came',
      listMissing(record, texts).map(describeMissing),
      'agents/<agent>/task_output/',
    ),
    renderList(
      '## Optional questions without an answer',
      optionalQuestions(record, texts),
      'agents/<agent>/task_output/',
    ),
    renderList('## Assumptions that stand', assumptions(record), treePaths.pool),
    renderList('## Work that rests on what no longer holds', stale(record), treePaths.pool),
  ];
}

/** Lists each question with its answer and author. Null without questions. */
export function renderAnswers(record: RunRecord): string | null {
  const entries = record.answered_questions.map((one) => {
    const { question_id, text, answer, answered_by, answer_ref } = one;
    const whole = answer_ref === null ? treePaths.questions : `artifact ${answer_ref}`;
    const what = assumingAnswerers.includes(answered_by) ? 'Assumed' : 'Answer';
    return cutLine(`\`${question_id}\`: ${text} ${what} (${answered_by}): ${answer}`, {
      charsMax: resultLimits.lineCharsMax,
      whole,
    });
  });
  return renderList('## Questions and answers', entries, treePaths.questions);
}

/** Lists what is open or unproven, in words that need no knowledge of the engine. */
export function listUnsettled(record: RunRecord, texts: RecordTexts): readonly string[] {
  const titles = new Map(
    record.waves.flatMap(({ outcomes }) => outcomes.map((one) => [one.delegation_id, one.title])),
  );
  const titleOf = (id: string): string => titles.get(id) ?? id;
  return [
    ...record.open_questions.map(({ text }) => `not answered: ${text}`),
    ...listMissing(record, texts).map(({ input }) => `never supplied: ${input}`),
    ...(record.effects ?? []).flatMap(({ state, target, tool }) =>
      state === 'unverified' || state === 'skipped'
        ? [`nobody knows whether this was changed: ${target === '' ? tool : target}`]
        : [],
    ),
    ...listDisagreed(record, texts).map(
      (id) => `not agreed on by all who worked on it: ${titleOf(id)}`,
    ),
    ...record.stale
      .filter(({ redone_by }) => redone_by === null)
      .map(({ delegation_id }) => `rests on what has changed since: ${titleOf(delegation_id)}`),
  ];
}

interface Missing {
  readonly input: string;
  readonly why: string;
  readonly delegation_id: string;
}

/**
 * Lists the inputs that agents requested and never received, each once: neither as a product or a result, nor as a fact, nor by an
 * answer. Requests of an output that later work replaced are over, and so are those of a failed one whose criteria are met.
 */
function listMissing(record: RunRecord, texts: RecordTexts): readonly Missing[] {
  const supplied = new Set(
    [
      ...record.details.map(({ detail_id }) => detail_id),
      ...record.facts.flatMap(({ key, is_assumption }) =>
        key === null || is_assumption ? [] : [key],
      ),
      ...record.answered_questions.flatMap(({ text, answered_by }) =>
        assumingAnswerers.includes(answered_by) ? [] : [text],
      ),
    ].map(normaliseText),
  );
  const missing = listStanding(record).flatMap(({ delegation_id, output_ref }) =>
    textOf(texts.outputs, output_ref).missing_info_requests.map((one) => ({
      ...one,
      delegation_id,
    })),
  );
  const open = missing.filter(({ input }) => !supplied.has(normaliseText(input)));
  return [...new Map(open.map((one) => [normaliseText(one.input), one])).values()];
}

function listStanding(record: RunRecord) {
  const met = new Set(
    record.criteria.flatMap(({ state, criterion_id }) => (state === 'open' ? [] : [criterion_id])),
  );
  const isOver = (ids: readonly string[]): boolean =>
    ids.length > 0 && ids.every((id) => met.has(id));
  const failed = record.waves.flatMap(({ outcomes }) =>
    outcomes.flatMap(({ delegation_id, status, output_ref, criteria_met, criteria_unmet }) =>
      status === 'completed' || output_ref === null || isOver([...criteria_met, ...criteria_unmet])
        ? []
        : [{ delegation_id, output_ref }],
    ),
  );
  return [...listDeliverables(record), ...failed];
}

function describeMissing({ input, why, delegation_id }: Missing): string {
  return cutLine(`${input}: ${why} (${delegation_id})`, {
    charsMax: resultLimits.lineCharsMax,
    whole: 'agents/<agent>/task_output/',
  });
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

/** Lists assumptions that were not superseded, each key or statement once: the newest, because it is best informed. */
export function standingAssumptions(record: RunRecord): readonly Fact[] {
  const standing = record.facts.filter((fact) => fact.is_assumption && fact.superseded_by === null);
  const newest = new Map(standing.map((fact) => [identify(fact), fact]));
  return standing.filter((fact) => newest.get(identify(fact)) === fact);
}

function identify({ key, value, statement }: Fact): string {
  return key === null || value === null
    ? normaliseText(statement)
    : JSON.stringify([key, normaliseValue(value)]);
}
