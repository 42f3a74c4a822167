import { AgentOutput } from '../../contracts/agent-output.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { Ref } from '../../contracts/ref.ts';
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
import { readAgents, readShape } from '../tools/read-artifact.ts';
import { markData } from './mark-data.ts';
import type { PromptReader } from './prompt-reader.ts';
import { blockBytesMax } from './block-limits.ts';
import { jsonBlock, listBlock, textBlock } from './blocks.ts';
import { cutAtSection } from './cut-at-section.ts';
import { renderAgents, renderAnsweredQuestions, renderRunBlocks } from './common-blocks.ts';
import { currentFacts, readLastWaveCompact, showFact } from './read-wave.ts';

/** Characters of a summary in the index: an agent chooses by it what to load. */
const summaryCharsMax = 300;

interface Upstream extends UpstreamOutput {
  readonly output: AgentOutput;
}

/** The first message of a delegation, in two parts. */
export interface DelegationPacket {
  /** Byte for byte equal for all delegations of a wave, whoever does them. */
  readonly shared: string;
  /** Role, grant, upstream results and task. */
  readonly own: string;
}

/**
 * The first message of a delegation: the ContextPacket of seed 004 §4.
 *
 * What all delegations of a wave share comes first, with what changes least at its beginning: the provider's cache reads
 * it for all but the first of them. So `planner_compact_input` and `detail_index` hold what the planner has approved, and
 * their second halves, what a delegation gets from those it depends on, stand in blocks of their own.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function renderDelegation(
  store: ArtifactStore,
  prompt: Extract<Prompt, { kind: 'delegation' }>,
  { agent, registry_ref, callKey }: PromptReader,
): Promise<DelegationPacket> {
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
  const own = [
    renderRole(agent),
    jsonBlock('allowed_tools', agent.allowed_tools),
    markData(renderUpstream(upstream, plan.delegations), callKey),
    jsonBlock('delegation', delegation),
  ];
  // Of the wave and not of the call: all delegations get the same bytes.
  const waveKey = `${record.run_id} ${prompt.plan_ref}`;
  const shared = await renderShared(store, record, registry_ref, waveKey);
  return { shared, own: own.join('\n\n') };
}

async function renderShared(
  store: ArtifactStore,
  record: RunRecord,
  registryRef: Ref,
  waveKey: string,
): Promise<string> {
  const waveCompact = await readLastWaveCompact(store, record);
  const assumptions = currentFacts(record)
    .filter((fact) => fact.is_assumption)
    .map(showFact);
  return [
    '<request kind="delegation">\nDo the task of your delegation and give your output. Cover each of its acceptance criteria, with evidence for what you met.\n</request>',
    renderAgents(await readAgents(store, registryRef)),
    ...renderRunBlocks(record, []),
    await renderAnsweredQuestions(store, record),
    renderPlannerInput(waveCompact),
    markData(
      [
        listBlock('active_assumptions', assumptions, blockBytesMax.facts, 'last'),
        renderDetailIndex(record, waveCompact),
      ].join('\n\n'),
      waveKey,
    ),
  ].join('\n\n');
}

/** From the agent's file, so it is the one text of an agent that is not data. */
function renderRole({ agent_id, prompt }: AgentDefinition): string {
  return `<role agent_id="${agent_id}">\n${prompt.trimEnd()}\n</role>`;
}

function renderPlannerInput(waveCompact: string): string {
  const truth = cutAtSection(
    waveCompact.trimEnd(),
    blockBytesMax.wave_compact,
    loadWhole(waveCompactId),
  );
  const text = truth === '' ? 'No wave has been decided yet.' : truth;
  return textBlock('planner_compact_input', text, Infinity);
}

/** What this delegation gets from those it depends on: their short results, within one limit, and what can be loaded. */
function renderUpstream(upstream: readonly Upstream[], planned: readonly Delegation[]): string {
  const compacts = upstream.map(({ output }) => output.compact_md.trimEnd());
  const needs = compacts.map((text) => Math.min(countBytes(text), blockBytesMax.upstream_compact));
  const shares = shareBytes(needs, blockBytesMax.upstream_compacts);
  const sections = upstream.map(({ delegation_id }, at) => {
    const compact = cutAtSection(compacts[at] ?? '', shares[at] ?? 0, loadWhole(delegation_id));
    return `# Result of ${delegation_id}\n${compact}`;
  });
  const text = sections.length > 0 ? sections.join('\n\n') : 'Your task depends on no other.';
  const index = upstream.map((one) => describeOutput(one, planned));
  return [
    listBlock('upstream_index', index, blockBytesMax.upstream_index),
    textBlock('upstream_results', text, Infinity),
  ].join('\n\n');
}

function loadWhole(detail_id: string): string {
  return `All of it: ${loadDetailName} ${JSON.stringify({ detail_id })}.`;
}

/** What `load_detail` knows besides the outputs upstream. */
function renderDetailIndex(record: RunRecord, waveCompact: string): string {
  const recorded = listRecordedDetails(record);
  const entries = [
    ...recorded.entries.map(toIndexEntry),
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
