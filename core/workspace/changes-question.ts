/**
 * Asks whether a run's changes belong into the user's folder.
 *
 * Invariants:
 *   CQ1. Without an answer the folder stays as it is.
 *   CQ2. A commit is offered only where nothing but the run's changes would be in it.
 *   CQ3. The question fits into the inbox, whatever the patch is: files first, then the beginning of the patch.
 */
import type { AskedQuestion } from '../../contracts/question.ts';
import type { ChangeSize, ProposedChanges } from '../../contracts/run-changes.ts';
import { cutText } from '../text/cut-text.ts';
import { countOf } from '../text/format.ts';

/** Characters of a question's text that the patch may take, and that the files may. */
const patchCharsMax = 1_200;
const filesCharsMax = 400;

export function changesQuestion(proposed: ProposedChanges): AskedQuestion {
  const { dir, files, patch_shown, can_commit } = proposed;
  const names = cutText(
    files.map(({ change, path }) => `${change} ${path}`).join(', '),
    filesCharsMax,
  );
  return {
    text: `The run has changed ${describeSize(proposed)}: ${names}. Bring this into ${cutText(dir, 200)}?\n${cutText(patch_shown, patchCharsMax)}`,
    why_it_matters: `apply: the files are changed, nothing is committed. ${can_commit ? 'commit: as one commit on your branch. ' : ''}keep: your folder stays as it is, and planwave apply brings them in later.`,
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: ['apply', ...(can_commit ? ['commit'] : []), 'keep'],
    default_answer: 'keep',
  };
}

/** Returns text such as `2 files (+10 −3 lines)`. */
export function describeSize({ files_total, lines_added, lines_removed }: ChangeSize): string {
  return `${countOf(files_total, 'file')} (+${lines_added} −${lines_removed} lines)`;
}

export function sumSizes(sizes: readonly ChangeSize[]): ChangeSize {
  const sum = (of: (size: ChangeSize) => number): number =>
    sizes.reduce((total, size) => total + of(size), 0);
  return {
    files_total: sum(({ files_total }) => files_total),
    lines_added: sum(({ lines_added }) => lines_added),
    lines_removed: sum(({ lines_removed }) => lines_removed),
  };
}
