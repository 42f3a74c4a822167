/**
 * Orders the judgement of a triad that verifies.
 *
 * Invariants:
 *   VJ1. The judgement is the work of the named triad on one section. It reads the output and what its author built on.
 *   VJ2. It names each criterion of the output, and has room for whatever comes with it: a task has a limit.
 *        The user's newest words come first, whatever else is cut, and each cut says how much is missing.
 *   VJ3. It changes nothing, and is never verified itself.
 */
import type { Delegation } from '../../contracts/delegation.ts';
import type { CompletionNote } from '../../contracts/note.ts';
import type { EvidenceReport } from '../../contracts/verification.ts';
import { instructionCharsMax, taskPartOf } from '../design/task-rules.ts';
import { cutMiddle, cutText, shareBytes } from '../text/cut-text.ts';
import { bullets, joinSections, oneLine } from '../text/markdown.ts';

/** Material that a judgement looks at besides the output. */
export interface ToJudge {
  readonly evidence: EvidenceReport;
  /** Commands of the author, the oldest first. */
  readonly commands: readonly object[];
  readonly notes: readonly CompletionNote[];
  /** Words of the user on the task, which bind, the oldest first. */
  readonly guidance: readonly string[];
}

/** Characters of a criterion, of all that the user said, and of a text in an entry of a list that is cut. */
const charsMax = { criterion: 200, guidance: 5_000, entryText: 300 };

const sectionText =
  'The judgement: for each acceptance criterion of the output, by its id, whether the output shows it and where you saw that, or what its author must still show or mend; for each note, whether the output can stand on it; and at the end pass or fail.';

/** @throws when the delegation names no triad that verifies it. */
export function orderJudgement(
  author: Delegation,
  judgement_id: string,
  shown: ToJudge,
): Delegation {
  const { delegation_id, required_inputs, verification } = author;
  if (verification?.triad === undefined) throw new Error(`No triad verifies ${delegation_id}.`);
  const needed = [...new Set([delegation_id, ...required_inputs])];
  return {
    delegation_id: judgement_id,
    agent_id: verification.verified_by,
    title: cutText(`Judge "${oneLine(author.title)}"`, 120),
    task_description: describe(author, shown),
    acceptance_criteria: [{ criterion_id: 'judgement', description: sectionText }],
    required_inputs: needed,
    provided_inputs: needed,
    depends_on: [],
    produces: [],
    executor: { kind: 'triad', ...verification.triad },
    judges: delegation_id,
  };
}

/** Part of the task that is cut where there is no room for it. */
interface Part {
  readonly heading: string;
  /** Characters of the whole. */
  readonly size: number;
  readonly cut: (charsMax: number) => string;
}

function textPart(heading: string, text: string): Part {
  const whole = text.trim();
  return { heading, size: whole.length, cut: (max) => cutNoted(whole, max) };
}

/** @returns the beginning, and how much is left out. */
function cutNoted(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = cutText(text, max - noteCharsMax);
  return `${kept}\n[Cut: the last ${text.length - kept.length + 1} of ${text.length} characters are left out.]`;
}

const noteCharsMax = 70;

/** @param keep which end stays when not all entries fit. */
function listPart(heading: string, entries: readonly object[], keep: 'first' | 'last'): Part {
  const whole = entries.map((entry) => JSON.stringify(entry)).join('\n');
  return {
    heading,
    size: whole.length,
    cut: (max) => (whole.length <= max ? whole : cutEntries(entries, max, keep)),
  };
}

/** Leaves out the middle of long texts, then entries: what is left is JSON. */
function cutEntries(entries: readonly object[], max: number, keep: 'first' | 'last'): string {
  const lines = entries.map((entry) => JSON.stringify(entry, cutLongText));
  const shown: string[] = [];
  let room = max - noteCharsMax;
  for (const line of keep === 'first' ? lines : lines.toReversed()) {
    room -= line.length + 1;
    if (room < 0) break;
    shown.push(line);
  }
  const left = lines.length - shown.length;
  const kept = (keep === 'first' ? shown : shown.toReversed()).join('\n');
  if (left === 0) return kept;
  const which = keep === 'first' ? 'last' : 'oldest';
  return `${kept}\n[Cut: the ${which} ${left} of ${lines.length} entries are left out.]`;
}

function cutLongText(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? cutMiddle(value, charsMax.entryText) : value;
}

function describe(author: Delegation, { evidence, commands, notes, guidance }: ToJudge): string {
  const said = textPart(
    'Words of the user on the task, newest first. They bind; where two differ, the newer holds.',
    guidance.toReversed().join('\n\n'),
  );
  const shown = [
    textPart('The task of its author', taskPartOf(author.task_description)),
    listPart('Checks of its evidence', evidence.checks, 'first'),
    listPart('Commands of its author', commands, 'last'),
    listPart('Notes of its author', notes, 'first'),
    textPart('Changes of files', evidence.diff),
  ].filter(({ size }) => size > 0);
  const request = describeRequest(author);
  const around = [said, ...shown].reduce((sum, { heading }) => sum + heading.length + 6, 1);
  const room = instructionCharsMax - request.length - around;
  const saidChars = Math.min(said.size, charsMax.guidance);
  const shares = shareBytes(
    shown.map(({ size }) => size),
    room - saidChars,
  );
  return joinSections([
    request,
    ...(said.size === 0 ? [] : [renderPart(said, saidChars)]),
    ...shown.map((part, at) => renderPart(part, shares[at] ?? 0)),
  ]);
}

function renderPart({ heading, cut, size }: Part, share: number): string {
  return `## ${heading}\n${cut(Math.min(size, share))}`;
}

function describeRequest({ delegation_id, title, acceptance_criteria }: Delegation): string {
  return [
    `Judge the output of ${delegation_id}, "${oneLine(title)}", before anybody builds on it. You have the output and the evidence, not how it came about: judge only what is there. Look it up with your tools where you can. You change nothing, run nothing and mend nothing.`,
    'The judgement is "pass" only when every criterion is shown and the output can stand on every note, else "fail". Style and taste are no gap. A check that "passed" needs no second look; one that was "not_run" is for you to judge. That the output fails is a result, and no failure of your task.',
    `## Acceptance criteria of the output\n${bullets(
      acceptance_criteria.map(
        ({ criterion_id, description }) =>
          `${criterion_id}: ${cutText(oneLine(description), charsMax.criterion)}`,
      ),
      '',
    )}`,
  ].join('\n\n');
}
