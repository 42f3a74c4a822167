import { withoutRules } from '../../core/design/task-rules.ts';
import { cutText } from '../../core/text/cut-text.ts';
import type { Ref } from '../../contracts/ref.ts';
import { EvidenceReport, refusedOf, Verdict } from '../../contracts/verification.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { renderRunBlocks, renderAnsweredQuestions } from '../prompts/common-blocks.ts';
import { cutAtSection } from '../prompts/cut-at-section.ts';
import { markData } from '../prompts/mark-data.ts';
import { loadWhole, renderRole, renderTask } from '../prompts/packet-parts.ts';
import { readTask, applyInstructions, renderGuidance } from '../prompts/read-task.ts';
import { renderUpstream } from '../prompts/render-upstream.ts';
import { verifierRules } from '../prompts/common-rules.ts';
import {
  readAgents,
  readJson as readStored,
  readOutput,
  readShape,
  readWhole,
} from '../artifacts/read-artifact.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, jsonBlock, textBlock } from '../text/blocks.ts';
import { loadDetailName } from '../tools/registry/load-detail.ts';
import { readJson } from './read-json.ts';
import { doerSystem, jsonReply, type PromptOf, type Stage } from './stage.ts';

const request =
  '<request kind="verification">\nJudge whether the output shows every acceptance criterion of the delegation.\n</request>';

/** Stage in which an agent verifies the output of another. It never sees the author's conversation. */
export const verificationStage: Stage<PromptOf<'verification'>> = {
  reply: {
    ...jsonReply,
    shape: 'verification',
    schemaFor: () => Verdict,
    async take(text) {
      const read = readJson(Verdict, text);
      if (!read.ok) return read;
      const { verdict, missing_evidence, reviewed_notes } = read.value;
      const refused_notes = refusedOf(reviewed_notes).map(({ note_id }) => cutText(note_id, 80));
      return {
        ok: true,
        text: JSON.stringify(read.value),
        outline: (verdict_ref) => ({
          shape: 'verification',
          verdict: {
            verdict,
            missing: missing_evidence.length,
            reviewed_notes: reviewed_notes.map(({ note_id }) => note_id),
            ...(refused_notes.length > 0 && { refused_notes }),
            verdict_ref,
          },
        }),
      };
    },
  },
  tools: 'reading',
  system: doerSystem(verifierRules),
  async render(store, prompt, { agent, registry_ref, callKey, tools }) {
    const [task, output, evidence, commands] = await Promise.all([
      readTask(store, prompt),
      readOutput(store, prompt.output_ref),
      readShape(store, prompt.evidence_ref, EvidenceReport, 'evidence'),
      readCommands(store, prompt),
    ]);
    // A verifier changes nothing: tools that may are not offered, whatever its file grants.
    const offered = agent.allowed_tools.filter((name) => tools.get(name)?.effect === 'read');
    const whole = await readWhole(store, output, prompt.files);
    const more = offered.includes(loadDetailName) ? loadWhole(prompt.delegation_id) : '';
    const notes = prompt.notes_ref === null ? [] : [await readStored(store, prompt.notes_ref)];
    const { status, coverage, assumptions_made } = output;
    const judged = prompt.judgement_ref;
    const judgement = judged === undefined ? null : await readOutput(store, judged);
    const shown = [
      await renderAnsweredQuestions(store, task.record),
      textBlock('work', cutAtSection(whole.trimEnd(), blockBytesMax.work, more), Infinity),
      jsonBlock('claimed_coverage', { status, coverage, assumptions_made }),
      jsonBlock('gathered_evidence', { ...evidence, commands }),
      ...notes.map((session) => jsonBlock('completion_notes', session)),
      ...(judgement === null
        ? []
        : [
            textBlock(
              'triad_judgement',
              cutAtLine(judgement.detailed_md, blockBytesMax.triad_judgement),
              Infinity,
            ),
          ]),
    ];
    const ordered = await applyInstructions(store, task.delegation, prompt);
    const delegation = {
      ...ordered,
      task_description: withoutRules(ordered.task_description),
    };
    const text = [
      request,
      ...renderRunBlocks(task.record, []),
      renderRole(agent),
      jsonBlock('allowed_tools', offered),
      markData(renderUpstream(task, agent), `${callKey} upstream`),
      renderTask(delegation, callKey),
      ...(await renderAuthor(store, registry_ref, delegation.agent_id)),
      ...(await renderGuidance(store, prompt)),
      markData(shown.join('\n\n'), callKey),
    ].join('\n\n');
    return [{ type: 'text', text }];
  },
};

/** Says where the output files of an author are who can write none; nothing for others. */
async function renderAuthor(
  store: ArtifactStore,
  registry_ref: Ref,
  author: string,
): Promise<string[]> {
  const agents = await readAgents(store, registry_ref);
  const tools = agents.find(({ agent_id }) => agent_id === author)?.allowed_tools;
  if (tools === undefined || tools.includes('write_file')) return [];
  return ['Its author has no tool that writes files: <work> is the content of the output file.'];
}

/** Characters of a command's result that the verifier sees: its end, where programs say what failed. */
const commandCharsMax = 1_000;

/** Reads the commands of an author, each with the end of its result. */
export async function readCommands(
  store: ArtifactStore,
  { commands = [] }: Pick<PromptOf<'verification'>, 'commands'>,
): Promise<readonly object[]> {
  return Promise.all(
    commands.map(async ({ result_ref, ...seen }) => ({
      ...seen,
      output_end: (await store.getText(result_ref)).slice(-commandCharsMax),
    })),
  );
}
