import { z } from 'zod';
import type { RecordedEffect } from '../../contracts/effect.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { listAnswerPaths } from '../../core/decision/check-decision.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { hashBytes } from '../text/bytes.ts';
import { renderCoordinationPlan } from '../../core/design/render-plan.ts';
import { findHandedOver, listDeliverables } from '../../core/run/list-deliverables.ts';
import { describeChanges } from '../../core/workspace/run-changes.ts';
import { embedCode, embedMarkdown, joinSections, oneLine } from '../../core/text/markdown.ts';
import { treePaths } from './paths.ts';
import { loadTexts, textOf, type RecordTexts, type TextRefs } from './record-texts.ts';
import { planRefOf } from './render-design.ts';
import { renderPhaseSummary } from './render-phase.ts';
import { resultLimits } from './limits.ts';
import type { NamedAnswer } from '../../contracts/wave-plan.ts';
import type { PageAnswer } from '../../contracts/run-page.ts';

/** Lists the texts that `findAnswer` needs, except that of a file. */
export function answerNeeds(record: RunRecord): TextRefs {
  return {
    decisions: record.waves.map((wave) => wave.decision_ref),
    outputs: record.waves.flatMap(({ outcomes }) => outcomes.map((one) => one.output_ref)),
    phases: [findHandedOver(record)?.report_ref ?? null],
    coordination_plans: [planRefOf(record)],
  };
}

/** Lists the text that `findAnswer` needs of a file that the answer names. */
export function answerFileNeeds(record: RunRecord, { decisions }: RecordTexts): TextRefs {
  const named = lastNamed(record, decisions)?.answer;
  const paths = named?.kind === 'file' ? listAnswerPaths(named.value) : [];
  const written = paths.map((path) => findWritten(record, path));
  return { markdown: written.map((one) => (one === null ? null : shownRef(one))) };
}

/** Loads what the answer of a run needs, and finds it. @throws like `loadTexts`. */
export async function loadAnswer(store: ArtifactStore, record: RunRecord): Promise<PageAnswer> {
  const needed = await loadTexts(store, [answerNeeds(record)]);
  const { markdown } = await loadTexts(store, [answerFileNeeds(record, needed)]);
  return findAnswer(record, { ...needed, markdown });
}

/**
 * Finds the answer named by the last decision. For a run that ended before its last decision, takes the newest named
 * answer that still stands, else everything completed and not replaced, newest first. A part that was started alone has
 * one output.
 */
export function findAnswer(record: RunRecord, texts: RecordTexts): PageAnswer {
  const handed = findHandedOver(record);
  if (handed !== null) {
    const { summary } = textOf(texts.phases, handed.report_ref);
    return { text: summary === null ? '' : renderPhaseSummary(summary), note: '' };
  }
  const planRef = planRefOf(record);
  // A design that was made alone: its plan is the answer.
  if (planRef !== null && record.waves.length === 0) {
    return { text: renderCoordinationPlan(textOf(texts.coordination_plans, planRef)), note: '' };
  }
  const named = lastNamed(record, texts.decisions);
  const text = named === null ? null : textOfNamed(named, record, texts);
  if (named === null || text === null) return gatherOutputs(record, texts);
  const note = 'The run was ended before its last step gave an answer. This is the one before.';
  return { text, note: named.isLast ? '' : note };
}

interface LastNamed {
  readonly answer: NamedAnswer;
  /** True if the last wave of the run named it. */
  readonly isLast: boolean;
}

function lastNamed(record: RunRecord, decisions: RecordTexts['decisions']): LastNamed | null {
  for (const wave of record.waves.toReversed()) {
    const answer = wave.decision_ref === null ? null : textOf(decisions, wave.decision_ref).answer;
    if (answer !== null) return { answer, isLast: wave === record.waves.at(-1) };
  }
  return null;
}

/** Finds the delegation whose output is the run's last named answer; null when the answer is no such output. */
export function findAnsweringDelegation(record: RunRecord, texts: RecordTexts): string | null {
  const answer = lastNamed(record, texts.decisions)?.answer;
  return answer?.kind === 'delegation' ? answer.value : null;
}

/** @returns null when the named answer does not stand any more. */
function textOfNamed(
  { answer: { kind, value }, isLast }: LastNamed,
  record: RunRecord,
  texts: RecordTexts,
): string | null {
  switch (kind) {
    case 'text':
      return value;
    case 'file':
      return describeFiles(listAnswerPaths(value), record, texts);
    case 'delegation': {
      const standing = isLast
        ? outputsOf(record).filter(({ status }) => status === 'completed')
        : listDeliverables(record);
      const one = standing.find(({ delegation_id }) => delegation_id === value);
      return one === undefined ? null : textOfOutput(one.output_ref, texts);
    }
  }
}

/** Lists outcomes that have an output, whatever their status, in the order of waves. */
function outputsOf(record: RunRecord) {
  return record.waves.flatMap(({ outcomes }) =>
    outcomes.flatMap((one) =>
      one.output_ref === null ? [] : [{ ...one, output_ref: one.output_ref }],
    ),
  );
}

function textOfOutput(ref: Ref, texts: RecordTexts): string {
  const { detailed_md, compact_md } = textOf(texts.outputs, ref);
  return detailed_md.trim() === '' ? compact_md : detailed_md;
}

function gatherOutputs(record: RunRecord, texts: RecordTexts): PageAnswer {
  const standing = listDeliverables(record).toReversed();
  // A failed delegation may still have a result: a team returns what its members did.
  const outputs = standing.length > 0 ? standing : outputsOf(record).toReversed();
  const text = joinOutputs(outputs, texts);
  if (text === '' || isOutputOfPart(record)) return { text, note: '' };
  const what =
    standing.length > 0
      ? 'These are the results until then, the newest first.'
      : 'Nothing was completed. This is what there is of it, and it is not whole.';
  return { text, note: `The run was ended before it gave an answer. ${what}` };
}

/** A delegation that was started alone: it came to its end, and no decision follows. */
function isOutputOfPart({ waves }: RunRecord): boolean {
  const [wave] = waves;
  return waves.length === 1 && wave?.status === 'decided' && wave.decision_ref === null;
}

function joinOutputs(
  outputs: readonly { readonly title: string; readonly output_ref: Ref }[],
  texts: RecordTexts,
): string {
  const [first, ...others] = outputs;
  if (first === undefined) return '';
  if (others.length === 0) return textOfOutput(first.output_ref, texts);
  return joinSections(
    outputs.map(({ title, output_ref }) => {
      const body = embedMarkdown(textOfOutput(output_ref, texts), {
        depth: 2,
        charsMax: resultLimits.deliverableCharsMax,
        whole: 'agents/<agent>/task_output/',
      });
      return `## ${oneLine(title)}\n\n${body}`;
    }),
  ).trimEnd();
}

/** The newest confirmed writing of a file; null without a known writing, and when the file was removed since. */
function findWritten({ effects = [] }: RunRecord, path: string): RecordedEffect | null {
  const last = effects.findLast((one) => one.state === 'confirmed' && one.target === path);
  return last === undefined || last.receipt?.removed === true ? null : last;
}

/** Returns the artifact with a file's text if the file is small enough to be shown; null otherwise. */
function shownRef({ receipt, arguments_ref }: RecordedEffect): Ref | null {
  if (receipt === null || receipt.bytes > resultLimits.fileBytesMax) return null;
  return receipt.content_ref ?? arguments_ref;
}

/** @returns null when one of them is not there any more. */
function describeFiles(
  paths: readonly string[],
  record: RunRecord,
  texts: RecordTexts,
): string | null {
  const files = paths.flatMap((path) => describeFile(path, record, texts) ?? []);
  return files.length === paths.length ? files.join('\n\n') : null;
}

/** Describes the place of a file, and includes its text if it is small. */
function describeFile(path: string, record: RunRecord, texts: RecordTexts): string | null {
  const written = findWritten(record, path);
  if (written === null) return null;
  const place = `The file \`${path}\`, in the folder ${describeFolder(record, written)}.`;
  const text = readWritten(written, texts);
  if (text === null) return place;
  const shown = /\.(?:md|markdown|txt)$/i.test(path)
    ? text.trim()
    : embedCode(text, {
        language: path.slice(path.lastIndexOf('.') + 1),
        charsMax: resultLimits.fileBytesMax,
        whole: path,
      });
  return `${place}\n\n${shown}`;
}

/** Describes the folder of a file. The results of a plan's agents stay in the worktrees. */
function describeFolder(record: RunRecord, { target, delegation_id }: RecordedEffect): string {
  const { workspace_dir: dir, changes } = record;
  if (dir === undefined) return besideResult(treePaths.workspace);
  const { results_folders } = describeChanges(record);
  const isResult = results_folders.some((folder) => target.startsWith(`${folder}/`));
  return changes === 'direct' || !isResult
    ? `\`${dir}\``
    : besideResult(`${treePaths.worktree(delegation_id)}/${treePaths.worktreeFiles}`);
}

function besideResult(folder: string): string {
  return `\`${folder}\` beside \`${treePaths.result}\``;
}

const Arguments = z.record(z.string(), z.unknown());

/**
 * Reads the text after an edit, or the text that was passed to the tool for writing: its receipt proves that the file
 * contains exactly this text.
 */
function readWritten(written: RecordedEffect, texts: RecordTexts): string | null {
  const ref = shownRef(written);
  if (ref === null) return null;
  if (ref === written.receipt?.content_ref) return textOf(texts.markdown, ref);
  const given = Object.values(Arguments.parse(JSON.parse(textOf(texts.markdown, ref))));
  const isWritten = (value: unknown): value is string =>
    typeof value === 'string' && hashBytes(value) === written.receipt?.sha256;
  return given.find(isWritten) ?? null;
}
