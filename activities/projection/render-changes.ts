import type { RunRecord } from '../../contracts/run-record.ts';
import { bullets, cutLine, joinSections } from '../../core/text/markdown.ts';
import { resultLimits } from './limits.ts';
import { describeSize } from '../../core/workspace/run-changes.ts';
import type { SettledChanges } from '../../contracts/effect.ts';

/** Renders what the agents have changed in the user's folder, each delegation with its numbers; null for nothing. */
export function renderChanges({ settled_changes: changes, run_id }: RunRecord): string | null {
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
