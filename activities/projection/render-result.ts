import type { RunRecord } from '../../contracts/run-record.ts';
import { bullets, cutLine, joinSections, oneLine } from '../../core/text/markdown.ts';
import { listLeftChanges } from '../../core/workspace/left-changes.ts';
import { countUnlisted, describeSize } from '../../core/workspace/run-changes.ts';
import type { SettledChanges } from '../../contracts/effect.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { SourceRef } from '../../contracts/transcript.ts';
import { answererNames, assumingAnswerers } from '../../contracts/names.ts';
import type { RunStatus } from '../../contracts/planner-run.ts';
import { noDefaultAnswer } from '../../core/questions/answer-unasked.ts';
import { engineLimits } from '../../core/limits.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { countOf } from '../../core/text/format.ts';
import { listNames } from '../../core/text/list-names.ts';
import { readUnanswered } from '../../core/run/decide-next-step.ts';
import { findHandedOver } from '../../core/run/list-deliverables.ts';
import { resultLimits } from './limits.ts';
import { treePaths } from './paths.ts';
import { textOf, type RecordTexts } from './record-texts.ts';
import { renderList } from './render-report-parts.ts';
import { listUnsettled, standingAssumptions } from './render-open-ends.ts';
import type { PageAnswer } from '../../contracts/run-page.ts';

/** Renders what the agents have changed in the user's folder, each delegation with its numbers; null for nothing. */
export function renderChanges({
  settled_changes: changes,
  run_id,
  design,
}: Pick<RunRecord, 'settled_changes' | 'run_id' | 'design'>): string | null {
  if (changes === undefined) return null;
  const { delegations, files, patch_ref } = changes;
  const options = { charsMax: resultLimits.lineCharsMax, whole: patch_ref };
  const more = changes.files_total - files.length;
  return joinSections([
    `## Changes of the workspace\n\n${cutLine(describeSettled(changes, run_id), options)}`,
    bullets(
      delegations.map((one) => `${one.delegation_id}: ${describeSize(one)}`),
      '',
    ),
    ...(design === undefined
      ? []
      : [
          'The numbers of a delegation include its results for other tasks below `agents/<agent_name>/task_output/`, which stay in the folder of the run.',
        ]),
    bullets(
      [
        ...files.map(({ change, path }) => cutLine(`${change} ${path}`, options)),
        ...(more > 0 && files.length > 0 ? [`… and ${more} more`] : []),
        `The whole patch: artifact \`${patch_ref}\``,
      ],
      '',
    ),
  ]).trimEnd();
}

/** Lists the changes of the workspace that are not among the run's, because others changed the same lines. */
export function renderLeftChanges({ waves }: Pick<RunRecord, 'waves'>): string | null {
  const left = listLeftChanges(waves);
  if (left.length === 0) return null;
  const lines = left.map(({ delegation_id, wave, files, reason, cure }) =>
    cutLine(
      `\`${delegation_id}\` of wave ${wave}, in ${listNames(files)}: ${reason}. ${cure}. Its own files: \`${treePaths.worktree(delegation_id)}\``,
      { charsMax: resultLimits.lineCharsMax, whole: treePaths.worktree(delegation_id) },
    ),
  );
  const unlisted = countUnlisted(left);
  const rest = unlisted > 0 ? [`… and ${countOf(unlisted, 'more task')} of teams`] : [];
  return `## Changes that were left out\n\n${bullets([...lines, ...rest], '')}`;
}

/** Says on one line how much was changed, and whether it is in the user's folder. */
export function describeSettled(changes: SettledChanges, runId: string): string {
  const { state, note, dir } = changes;
  const where = {
    applied: `they are in ${dir}, not committed (\`planwave undo ${runId}\`)`,
    committed: `they are committed in ${dir} (\`planwave undo ${runId}\`)`,
    kept: `they are not in ${dir} yet (\`planwave diff ${runId}\`, \`planwave apply ${runId}\`)`,
  }[state];
  return [`${describeSize(changes)}: ${where}.`, note].filter((part) => part !== '').join(' ');
}

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

/**
 * Renders `result.md`: the answer, after at most ten lines about it. They say nothing of how the engine works, because
 * the reader asked for the answer.
 */
export function renderResult(
  record: RunRecord,
  status: RunStatus,
  texts: RecordTexts,
  answer: PageAnswer,
): string {
  const title = `# Result: ${oneLine(record.goal_title)}`;
  const body = answer.text.trim() === '' ? 'There is no answer.' : cutAnswer(answer.text.trim());
  const told = renderHead(record, status, texts, answer);
  const taken = countRedactions(joinSections([title, told.join('\n'), body]));
  const lines = [
    ...told,
    ...(taken === '' ? [] : [`**Taken out because it looked like a secret:** ${taken}`]),
    `**Evidence, versions, questions, cost:** \`${treePaths.report}\``,
  ];
  return joinSections([title, bullets(lines, ''), '---', body]);
}

function cutAnswer(text: string): string {
  if (text.length <= resultLimits.answerCharsMax) return text;
  return `${cutText(text, resultLimits.answerCharsMax)}\n\n*Cut; the whole is named in \`${treePaths.report}\`.*`;
}

/** Shortens the answer for the workflow's result. Its last line names what was left out. */
export function shortenAnswer({ text }: PageAnswer, resultPath: string): string {
  const whole = text.trim();
  const max = engineLimits.returnedAnswerCharsMax;
  if (whole.length <= max) return whole;
  const rest = `\n\n… ${whole.length} characters in all; the whole is in ${resultPath}`;
  return `${cutText(whole, max - rest.length)}${rest}`;
}

/** Renders one line for each note on the answer. */
function renderHead(
  record: RunRecord,
  status: RunStatus,
  texts: RecordTexts,
  { note }: PageAnswer,
): readonly string[] {
  const unmet = record.criteria.filter(({ state }) => state === 'open');
  const isJudged = findHandedOver(record) === null && !isPlanAlone(record, status);
  const { settled_changes: changes } = record;
  return [
    `**Status:** ${describeStatus(record, status)}`,
    ...(note === '' ? [] : [`**Not the last word:** ${note}`]),
    ...listShort('Not met', isJudged ? unmet.map(({ description }) => description) : []),
    ...listShort('Open or unproven', listUnsettled(record, texts)),
    ...(changes === undefined
      ? []
      : [`**Changes:** ${oneLine(describeSettled(changes, record.run_id))}`]),
    ...listShort(
      'Assumed',
      standingAssumptions(record).map(({ statement }) =>
        statement.replace(noDefaultAnswer, 'left open'),
      ),
    ),
    `**Sources:** ${describeSources(countSources(record))}`,
  ];
}

function describeSources(count: number): string {
  if (count === 0) return 'No source was opened: this is what the model knew.';
  return count === 1 ? 'One source was opened.' : `${count} sources were opened.`;
}

/** Lists the first entries on one line, with the number of further ones. No line without entries. */
function listShort(name: string, entries: readonly string[]): readonly string[] {
  const { headEntriesMax, headEntryCharsMax } = resultLimits;
  if (entries.length === 0) return [];
  const shown = entries
    .slice(0, headEntriesMax)
    .map((entry) => cutText(oneLine(entry), headEntryCharsMax));
  const more = entries.length - shown.length;
  const line = [...shown, ...(more === 0 ? [] : [`and ${more} more`])].join('; ');
  return [
    `**${name}:** ${cutLine(line, { charsMax: resultLimits.lineCharsMax, whole: treePaths.report })}`,
  ];
}

/** Describes the end of the run in one sentence. */
export function describeStatus(record: RunRecord, status: RunStatus): string {
  const handed = findHandedOver(record);
  if (handed !== null && status === 'completed') {
    return `Completed: ${handed.phase}, one phase of a triad. It hands over what follows; there is no output.`;
  }
  if (isPlanAlone(record, status)) {
    return 'Completed: the plan is the answer. Its criteria are judged when it is carried out.';
  }
  const open = record.criteria.filter((criterion) => criterion.state === 'open').length;
  const notMet =
    record.criteria.length === 0
      ? 'no criterion was set.'
      : `${open} of ${record.criteria.length} criteria ${open === 1 ? 'is' : 'are'} not met.`;
  switch (status) {
    case 'completed':
      return 'Completed: every criterion is met with evidence or by your answer, or was waived by you.';
    case 'finished_unmet':
      return `Finished, although ${notMet}`;
    case 'stopped':
      return `${describeStop(record)}: ${notMet}`;
    case 'abandoned':
      return `${describeGivingUp(record)}: ${notMet}`;
  }
}

/** Tells a design, or an assessment of risks, that was made alone. Its criteria are those of the plan. */
function isPlanAlone({ design, waves }: RunRecord, status: RunStatus): boolean {
  return status === 'completed' && design !== undefined && waves.length === 0;
}

/** Names who gave the run up: the user, or nobody, when the default of an unanswered question was taken. */
function describeGivingUp({ answered_questions }: RunRecord): string {
  const last = answered_questions.findLast(({ answer }) => answer === 'abandon');
  if (last === undefined || !unasked.includes(last.answered_by)) return 'Abandoned by the user';
  return `Given up without a decision of the user, by the default answer to ${last.question_id} ("${cutLine(oneLine(last.text), { charsMax: 200, whole: treePaths.report })}")`;
}

/** Names that sign answers which no person gave. */
const unasked: readonly string[] = [...assumingAnswerers, answererNames.engine];

function describeStop({ stop_reason }: RunRecord): string {
  const unanswered = readUnanswered(stop_reason);
  if (unanswered !== null) {
    return `Unattended, and ended at a question that only a person can answer ("${oneLine(unanswered)}")`;
  }
  const why = stop_reason === undefined ? '' : ` ("${oneLine(stop_reason)}")`;
  return `Stopped by the user before the end${why}`;
}

/** Matches a mark, also with escaped brackets. */
const mark = /\[redacted:([a-z0-9-]{1,60})\\?\]/g;

/** Counts the marks of each rule in the text, such as `2 × aws, 1 × github`. Empty when there is none. */
function countRedactions(text: string): string {
  const counts = new Map<string, number>();
  for (const [, rule = ''] of text.matchAll(mark)) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const listed = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return listed.map(([rule, count]) => `${count} × ${rule}`).join(', ');
}

/**
 * Tells the reader which rules have replaced text by marks.
 *
 * @returns no section when there is no mark.
 */
export function renderRedactions(text: string): string[] {
  const told = countRedactions(text);
  if (told === '') return [];
  return [
    `## Taken out\n\nWhat looked like a secret was taken out before it was sent or stored. In this file: ${told}.`,
  ];
}

/**
 * Counts the sources that agents opened: addresses among what they loaded. A detail of the run itself is no source, and
 * without a tool that opens addresses there is none. A page that two calls of `web_research` opened counts twice.
 */
function countSources({ waves, details, effects = [] }: RunRecord): number {
  const own = new Set(details.map(({ detail_id }) => detail_id));
  const loaded = waves.flatMap(({ outcomes }) => outcomes.flatMap((one) => one.loaded_details));
  const opened = new Set(loaded.filter((id) => /^https?:\/\//.test(id) && !own.has(id))).size;
  return effects.reduce((sum, { receipt }) => sum + (receipt?.web?.opened ?? 0), opened);
}
