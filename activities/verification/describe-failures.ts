import { VerificationResults } from '../../contracts/verification.ts';
import type { DescribeFailuresInput } from '../../contracts/verification.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { oneLine } from '../../core/text/markdown.ts';
import { readShape } from '../artifacts/read-artifact.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { applyInstructions } from '../prompts/render-feedback.ts';
import { readDelegation } from '../prompts/read-task.ts';

/** Shares of a question's 2,000 characters. */
const instructionCharsMax = 600;
const feedbackCharsMax = 1_100;

/** Words what the user decides on: the task, its instructions, and the feedback of each verification, newest first. */
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
  const share = Math.floor(feedbackCharsMax / Math.max(1, results.length));
  const feedback = results
    .map(({ missing_evidence }, at) =>
      cutText(`${at + 1}. ${missing_evidence.map(oneLine).join(' · ')}`, share),
    )
    .toReversed();
  const lines = [
    `The output of ${delegation_id} (${cutText(title, 80)}) failed its verification by ${verified_by}. What now?`,
    `Instructions: ${cutText(oneLine(task_description), instructionCharsMax)}`,
    'Feedback, newest first:',
    ...feedback,
  ];
  return { text: lines.join('\n') };
}
