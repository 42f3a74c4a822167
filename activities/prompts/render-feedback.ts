import type { Delegation } from '../../contracts/delegation.ts';
import { AgentOutput } from '../../contracts/agent-output.ts';
import { type VerificationFeedback, VerificationResults } from '../../contracts/verification.ts';
import type { Ref } from '../../contracts/ref.ts';
import { readShape } from '../artifacts/read-artifact.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, jsonBlock, textBlock } from '../text/blocks.ts';
import { markData } from './mark-data.ts';

/** Words of the user on a task whose output failed its verification. */
type UsersWords = Pick<VerificationFeedback, 'instructions_ref' | 'guidance_refs'>;

/** Returns the delegation with the instructions that the user gave instead of its own. */
export async function applyInstructions(
  store: ArtifactStore,
  delegation: Delegation,
  { instructions_ref }: Pick<UsersWords, 'instructions_ref'>,
): Promise<Delegation> {
  if (instructions_ref === null) return delegation;
  return { ...delegation, task_description: await store.getText(instructions_ref) };
}

/** Renders the user's guidance, which binds; nothing without it. */
export async function renderGuidance(
  store: ArtifactStore,
  { guidance_refs }: Pick<UsersWords, 'guidance_refs'>,
): Promise<string[]> {
  const texts = await Promise.all(guidance_refs.map((ref: Ref) => store.getText(ref)));
  if (texts.length === 0) return [];
  return [
    'The user gave this guidance for the task. It is binding.',
    textBlock('user_guidance', texts.join('\n\n'), blockBytesMax.guidance),
  ];
}

/** Renders what an agent that begins anew is told: its failed output and the results of the verification. */
export async function renderFeedback(
  store: ArtifactStore,
  feedback: VerificationFeedback,
  callKey: string,
): Promise<string[]> {
  const [results, output] = await Promise.all([
    readShape(store, feedback.results_ref, VerificationResults, 'results of a verification'),
    readShape(store, feedback.output_ref, AgentOutput, "an agent's output"),
  ]);
  const failed = cutAtLine(output.detailed_md.trimEnd(), blockBytesMax.failed_output);
  return [
    'The task was done before, and its output failed the verification by another agent. Files that were changed then are as they were left. Do what is missing, and give the whole output.',
    markData(
      [
        textBlock('failed_output', failed, Infinity),
        jsonBlock('verification_results', results),
      ].join('\n\n'),
      `${callKey} verification`,
    ),
    ...(await renderGuidance(store, feedback)),
  ];
}
