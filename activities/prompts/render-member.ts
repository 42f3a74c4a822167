import type { TurnBrief } from '../../contracts/member-turn.ts';
import type { Prompt } from '../../contracts/model-turn.ts';
import { PhaseSummary } from '../../contracts/phase-summary.ts';
import { listSummaryTexts, summariseRecords } from '../../core/spec/summarise-records.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { jsonBlock, textBlock } from '../text/blocks.ts';
import { cutAtSection } from './cut-at-section.ts';
import { markData } from './mark-data.ts';
import { renderRole, renderShared, renderTask } from './packet-parts.ts';
import type { PromptReader } from './prompt-reader.ts';
import { renderUpstream } from './render-upstream.ts';
import { readTask } from './read-task.ts';
import type { Packet } from './render-delegation.ts';
import { renderTurn } from './render-turn.ts';
import { describePart } from './triad-parts.ts';

const request =
  '<request kind="member">\nTake your turn as a member of the triad that does your delegation. Leave in the records what your duties say.\n</request>';

/**
 * The first message of a member in a phase. It is all that the member knows: its brief, the summary of the phase before,
 * and what any agent of the wave is told (seed 000: role-scoped history, summarised hand-over).
 *
 * What all members of the wave share comes first, as in a delegation. The provider reads it from its cache for those that
 * have the same model, tools and rules, which are members of one role in one phase.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function renderMember(
  store: ArtifactStore,
  prompt: Extract<Prompt, { kind: 'member' }>,
  { agent, callKey }: PromptReader,
): Promise<Packet> {
  const task = await readTask(store, prompt);
  const { brief } = prompt;
  const own = [
    renderRole(agent),
    renderTriad(brief),
    textBlock('part', describePart(brief), Infinity),
    jsonBlock('allowed_tools', [...agent.allowed_tools, ...brief.tools]),
    markData(renderUpstream(task, agent), callKey),
    renderTask(task.delegation),
    ...(await renderSummary(store, brief, callKey)),
    await renderTurn(store, task.delegation, brief, callKey),
  ];
  const waveKey = `${task.record.run_id} ${prompt.plan_ref}`;
  const shared = await renderShared(store, task.record, { request, waveKey });
  return { shared, own: own.join('\n\n') };
}

/** Who works with whom, and who the reader is. */
function renderTriad({ type, phase, member, team, rounds_max }: TurnBrief): string {
  const { name, role, lens = null } = member;
  return jsonBlock('triad', { type, phase, member: name, role, lens, team, rounds_max });
}

async function renderSummary(
  store: ArtifactStore,
  brief: TurnBrief,
  callKey: string,
): Promise<string[]> {
  const text = await readHandOver(store, brief);
  if (text === null) return [];
  const shown = cutAtSection(text, blockBytesMax.phase_summary, '');
  return [markData(textBlock('phase_summary', shown, Infinity), callKey)];
}

/** What the phase before hands over: what its writer said, or else what the records of a negotiation say. */
async function readHandOver(
  store: ArtifactStore,
  { summary_ref, phase, spec }: TurnBrief,
): Promise<string | null> {
  if (summary_ref !== null) {
    const text = await store.getText(summary_ref);
    const summary = readSummary(text);
    return summary === null ? text : formatSummary(summary);
  }
  if (phase !== 'execute') return null;
  const refs = listSummaryTexts(spec);
  const texts = await Promise.all(refs.map((ref) => store.getText(ref)));
  const byRef = new Map(refs.map((ref, at) => [ref, texts[at] ?? '']));
  const summary = summariseRecords(spec, (ref) => byRef.get(ref) ?? '');
  return summary === null ? null : formatSummary(summary);
}

function formatSummary({ decisions, open_questions, artifacts }: PhaseSummary): string {
  return [
    '## Decisions',
    ...decisions.map(({ section_id, decision }) => formatLine(section_id, decision)),
    '## Open questions',
    ...open_questions.map(({ section_id, question }) => formatLine(section_id, question)),
    '## Artifacts',
    ...artifacts.map(({ section_id, artifact }) => formatLine(section_id, artifact)),
  ].join('\n');
}

/** @returns null for a text that somebody typed, of a phase that was started alone. */
function readSummary(text: string): PhaseSummary | null {
  try {
    return PhaseSummary.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

function formatLine(sectionId: string | null, text: string): string {
  return `- ${sectionId ?? 'the whole'}: ${text}`;
}
