import { AgentOutput } from '../../contracts/agent-output.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { Prompt } from '../../contracts/model-turn.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { WavePlan } from '../../contracts/wave-plan.ts';
import { shareBytes } from '../../core/text/share-bytes.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { countBytes } from '../tools/cut-bytes.ts';
import { loadDetailName } from '../tools/load-detail.ts';
import {
  isTooLong,
  listRecordedDetails,
  toIndexEntry,
  waveCompactId,
} from '../tools/packet-details.ts';
import type { IndexEntry } from '../tools/packet-details.ts';
import { readRecord } from '../run-record/read-record.ts';
import { readShape } from '../tools/read-artifact.ts';
import { blockBytesMax } from './block-limits.ts';
import { jsonBlock, listBlock, textBlock } from './blocks.ts';
import { cutAtSection } from './cut-at-section.ts';
import { renderAnsweredQuestions, renderRunBlocks } from './common-blocks.ts';
import { currentFacts, readLastWaveCompact, showFact } from './read-wave.ts';

/** Characters of a summary in the index: an agent chooses by it what to load. */
const summaryCharsMax = 300;

interface Upstream extends UpstreamOutput {
  readonly output: AgentOutput;
}

/**
 * The first message of a delegation: the ContextPacket of seed 004 §4.
 *
 * What all delegations of a wave share comes first, what is this one's own comes last.
 */
export async function renderDelegation(
  store: ArtifactStore,
  prompt: Extract<Prompt, { kind: 'delegation' }>,
): Promise<string> {
  const record = await readRecord(store, prompt.record_ref);
  const plan = await readShape(store, prompt.plan_ref, WavePlan, 'a wave plan');
  const delegation = plan.delegations.find((one) => one.delegation_id === prompt.delegation_id);
  if (delegation === undefined) {
    const message = `The plan ${prompt.plan_ref} has no delegation "${prompt.delegation_id}".`;
    throw new ArtifactCorrupt(message, { ref: prompt.plan_ref, path: prompt.plan_ref });
  }
  const upstream = await Promise.all(
    prompt.upstream.map(async (one) => ({
      ...one,
      output: await readShape(store, one.output_ref, AgentOutput, "an agent's output"),
    })),
  );
  const waveCompact = await readLastWaveCompact(store, record);
  const assumptions = currentFacts(record)
    .filter((fact) => fact.is_assumption)
    .map(showFact);
  return [
    '<request kind="delegation">\nDo the task of your delegation and give your output. Cover each of its acceptance criteria, with evidence for what you met.\n</request>',
    ...renderRunBlocks(record, []),
    await renderAnsweredQuestions(store, record),
    listBlock('active_assumptions', assumptions, blockBytesMax.facts, 'last'),
    textBlock('planner_compact_input', composeCompactInput(waveCompact, upstream), Infinity),
    renderDetailIndex(record, waveCompact, upstream, plan.delegations),
    jsonBlock('delegation', delegation),
  ].join('\n\n');
}

/** The planner's truth, then the short results that this delegation depends on; each within its limit. */
function composeCompactInput(waveCompact: string, upstream: readonly Upstream[]): string {
  const compacts = upstream.map(({ output }) => output.compact_md.trimEnd());
  const needs = compacts.map((text) => Math.min(countBytes(text), blockBytesMax.upstream_compact));
  const shares = shareBytes(needs, blockBytesMax.upstream_compacts);
  const sections = upstream.map(({ delegation_id }, at) => {
    const compact = cutAtSection(compacts[at] ?? '', shares[at] ?? 0, loadWhole(delegation_id));
    return `# Result of ${delegation_id}\n${compact}`;
  });
  const truth = cutAtSection(
    waveCompact.trimEnd(),
    blockBytesMax.wave_compact,
    loadWhole(waveCompactId),
  );
  const parts = [...(truth === '' ? [] : [truth]), ...sections];
  return parts.length > 0
    ? parts.join('\n\n')
    : 'No wave has been decided yet, and your task depends on no other.';
}

function loadWhole(detail_id: string): string {
  return `All of it: ${loadDetailName} ${JSON.stringify({ detail_id })}.`;
}

/** Every entry that `load_detail` knows, described by the record or, for outputs of this wave, by the plan. */
function renderDetailIndex(
  record: RunRecord,
  waveCompact: string,
  upstream: readonly Upstream[],
  planned: readonly Delegation[],
): string {
  const recorded = listRecordedDetails(record);
  const fresh = new Set(upstream.map((one) => one.delegation_id));
  const entries = [
    ...recorded.entries.filter((entry) => !fresh.has(entry.detail_id)).map(toIndexEntry),
    ...upstream.map((one) => describeOutput(one, planned)),
    ...(isTooLong(waveCompact) ? [describeWaveCompact(waveCompact)] : []),
  ];
  const block = jsonBlock('detail_index', entries);
  if (recorded.leftOut === 0) return block;
  return `${block}\n[The ${recorded.leftOut} oldest details are not listed and can't be loaded. Ask for what is missing in missing_info_requests.]`;
}

function describeWaveCompact(waveCompact: string): IndexEntry {
  return {
    detail_id: waveCompactId,
    title: "The planner's last wave_compact, whole",
    summary: 'The short truth of the last wave, which was too long to be shown whole here.',
    tags: ['planner'],
    size: countBytes(waveCompact),
  };
}

function describeOutput(
  { delegation_id: detail_id, output }: Upstream,
  planned: readonly Delegation[],
): IndexEntry {
  const delegation = planned.find((one) => one.delegation_id === detail_id);
  return {
    detail_id,
    title: delegation?.title ?? detail_id,
    summary: cutText(output.compact_md.replaceAll(/\s+/g, ' ').trim(), summaryCharsMax),
    tags: delegation?.produces ?? [],
    size: countBytes(output.detailed_md),
  };
}
