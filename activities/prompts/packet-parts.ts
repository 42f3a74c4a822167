import type { Delegation } from '../../contracts/delegation.ts';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { shareBytes } from '../../core/text/share-bytes.ts';
import { cleanLine } from '../../core/text/clean-line.ts';
import { cutText } from '../../core/text/cut-text.ts';
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
import { readAgents } from '../tools/read-artifact.ts';
import { markData } from './mark-data.ts';
import { blockBytesMax } from './block-limits.ts';
import { cutAtLine, jsonBlock, listBlock, textBlock } from './blocks.ts';
import { cutAtSection } from './cut-at-section.ts';
import { renderAgents, renderAnsweredQuestions, renderRunBlocks } from './common-blocks.ts';
import type { Task, Upstream } from './read-task.ts';
import { currentFacts, readLastWaveCompact, showFact } from './read-wave.ts';

/** Characters of a summary in the index: an agent chooses by it what to load. */
const summaryCharsMax = 300;

/** Characters of a line that tells a criterion which an upstream output leaves unmet: statement and reason. */
const unmetCharsMax = 600;

interface SharedKeys {
  /** The block that the message begins with. */
  readonly request: string;
  readonly registry_ref: Ref;
  /** The same for the whole wave, so that all get the same bytes. */
  readonly waveKey: string;
}

/** What the first messages of a wave that begin with the same request have in common. */
export async function renderShared(
  store: ArtifactStore,
  record: RunRecord,
  { request, registry_ref, waveKey }: SharedKeys,
): Promise<string> {
  const waveCompact = await readLastWaveCompact(store, record);
  const assumptions = currentFacts(record)
    .filter((fact) => fact.is_assumption)
    .map(showFact);
  return [
    request,
    renderAgents(await readAgents(store, registry_ref)),
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
export function renderRole({ agent_id, prompt }: AgentDefinition): string {
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
export function renderUpstream({ upstream, planned }: Task): string {
  const compacts = upstream.map(({ output }) => output.compact_md.trimEnd());
  const needs = compacts.map((text) => Math.min(countBytes(text), blockBytesMax.upstream_compact));
  const shares = shareBytes(needs, blockBytesMax.upstream_compacts);
  const unmet = upstream.map((one) => listUnmet(one, planned));
  const unmetShares = shareBytes(unmet.map(countBytes), blockBytesMax.upstream_unmet);
  const sections = upstream.map(({ delegation_id, replaces = [] }, at) => {
    const compact = cutAtSection(compacts[at] ?? '', shares[at] ?? 0, loadWhole(delegation_id));
    const open = cutAtLine(unmet[at] ?? '', unmetShares[at] ?? 0);
    const older = replaces.length > 0 ? `, which replaces ${replaces.join(', ')}` : '';
    return `# Result of ${delegation_id}${older}\n${compact}${open === '' ? '' : `\n${open}`}`;
  });
  const text = sections.length > 0 ? sections.join('\n\n') : 'Your task depends on no other.';
  const index = upstream.map((one) => describeOutput(one, planned));
  return [
    listBlock('upstream_index', index, blockBytesMax.upstream_index),
    textBlock('upstream_results', text, Infinity),
  ].join('\n\n');
}

/** One line for each criterion that the output leaves unmet, with the reason. Empty when it meets them all. */
function listUnmet({ delegation_id, output }: Upstream, planned: readonly Delegation[]): string {
  const delegation = planned.find((one) => one.delegation_id === delegation_id);
  return output.coverage.criteria_unmet
    .map(({ criterion_id, reason }) => {
      const criterion = delegation?.acceptance_criteria.find(
        (one) => one.criterion_id === criterion_id,
      );
      const what = criterion === undefined ? '' : ` (${criterion.description})`;
      return cleanLine(`Not met: ${criterion_id}${what}: ${reason}`, unmetCharsMax);
    })
    .join('\n');
}

/** How the whole of a text that was cut is loaded, as a sentence. */
export function loadWhole(detail_id: string): string {
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
