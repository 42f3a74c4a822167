import type { Delegation } from '../../contracts/delegation.ts';
import { VerificationResults } from '../../contracts/verification.ts';
import type { DescribeFailuresInput } from '../../contracts/verification.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { engineLimits } from '../../core/limits.ts';
import { bullets, joinSections, oneLine } from '../../core/text/markdown.ts';
import { readShape } from '../artifacts/read-artifact.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { applyInstructions } from '../prompts/render-feedback.ts';
import { readDelegation } from '../prompts/read-task.ts';
import { commandText } from '../../core/text/format.ts';

/** Shares of a question's 2,000 characters. */
const instructionCharsMax = 500;
const feedbackCharsMax = 1_000;

/**
 * Words what the user decides on: the task, its instructions, and the feedback of the verifications since the user was asked
 * last, newest first. All of it, with the feedback before that, is an artifact that the text names.
 */
export async function describeFailures(
  store: ArtifactStore,
  input: DescribeFailuresInput,
): Promise<{ readonly text: string }> {
  const { delegation_id, verified_by, results_refs } = input;
  const planned = await readDelegation(store, input);
  const { title, task_description } = await applyInstructions(store, planned, input);
  const results = await Promise.all(
    results_refs.map((ref) =>
      readShape(store, ref, VerificationResults, 'results of a verification'),
    ),
  );
  const shown = results.slice(-engineLimits.verificationsMax);
  const before = results.length - shown.length;
  const share = Math.floor(feedbackCharsMax / Math.max(1, shown.length));
  const feedback = shown
    .map(({ missing_evidence }, at) =>
      cutText(`${before + at + 1}. ${missing_evidence.map(oneLine).join(' · ')}`, share),
    )
    .toReversed();
  const whole_ref = await store.put(
    renderWhole(delegation_id, { title, task_description }, results),
  );
  const lines = [
    `The output of ${delegation_id} (${cutText(title, 80)}) failed its verification by ${verified_by}. What now?`,
    `Instructions: ${cutText(oneLine(task_description), instructionCharsMax)}`,
    'Feedback, newest first:',
    ...feedback,
    `All of it: ${commandText('artifact', whole_ref)}`,
  ];
  return { text: lines.join('\n') };
}

function renderWhole(
  delegation_id: string,
  { title, task_description }: Pick<Delegation, 'title' | 'task_description'>,
  results: readonly VerificationResults[],
): string {
  return joinSections([
    `# ${oneLine(title)}`,
    `Task: \`${delegation_id}\``,
    `## Instructions\n${task_description}`,
    '## Feedback of every verification that failed',
    ...results.map(
      ({ timestamp, missing_evidence }, at) =>
        `### ${at + 1}. ${new Date(timestamp * 1_000).toISOString()}\n${bullets(missing_evidence.map(oneLine), '')}`,
    ),
  ]);
}
