import { AgentOutput } from '../../contracts/agent-output.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { Prompt } from '../../contracts/model-turn.ts';
import type { DetailEntry, RunRecord } from '../../contracts/run-record.ts';
import { WavePlan } from '../../contracts/wave-plan.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { countBytes } from '../tools/cut-bytes.ts';
import { listPacketDetails } from '../tools/packet-details.ts';
import { readRecord } from '../run-record/read-record.ts';
import { readShape } from '../tools/read-artifact.ts';
import { blockBytesMax } from './block-limits.ts';
import { cutAtLine, jsonBlock, listBlock, textBlock } from './blocks.ts';
import { renderAnsweredQuestions, renderRunBlocks } from './common-blocks.ts';
import { currentFacts, readLastWaveCompact, showFact } from './read-wave.ts';

/** Characters of a summary in the index: an agent chooses by it what to load. */
const summaryCharsMax = 300;

interface Upstream extends UpstreamOutput {
  readonly output: AgentOutput;
}

/** A detail as the index shows it: where it is stored is the engine's business. */
type IndexEntry = Omit<DetailEntry, 'output_ref'>;

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
    textBlock(
      'planner_compact_input',
      composeCompactInput(waveCompact, upstream),
      blockBytesMax.planner_compact_input,
    ),
    listBlock(
      'detail_index',
      buildDetailIndex(record, upstream, plan.delegations),
      blockBytesMax.detail_index,
      'last',
    ),
    jsonBlock('delegation', delegation),
  ].join('\n\n');
}

function composeCompactInput(waveCompact: string, upstream: readonly Upstream[]): string {
  const sections = upstream.map(({ delegation_id, output }) => {
    const compact = cutAtLine(output.compact_md.trimEnd(), blockBytesMax.upstream_compact);
    return `# Result of ${delegation_id}\n${compact}`;
  });
  const truth = cutAtLine(waveCompact.trimEnd(), blockBytesMax.wave_compact);
  const parts = [...(truth === '' ? [] : [truth]), ...sections];
  return parts.length > 0
    ? parts.join('\n\n')
    : 'No wave has been decided yet, and your task depends on no other.';
}

/** Every entry that `load_detail` knows, described by the record or, for outputs of this wave, by the plan. */
function buildDetailIndex(
  record: RunRecord,
  upstream: readonly Upstream[],
  planned: readonly Delegation[],
): IndexEntry[] {
  const recorded = new Map(record.details.map((entry) => [entry.detail_id, entry]));
  const fresh = new Map(upstream.map((one) => [one.delegation_id, one.output]));
  return [...listPacketDetails(record, upstream).keys()].flatMap((detail_id) => {
    const output = fresh.get(detail_id);
    if (output !== undefined) {
      return [describeOutput(detail_id, output, planned)];
    }
    const entry = recorded.get(detail_id);
    if (entry === undefined) return [];
    const { output_ref: _ref, ...shown } = entry;
    return [shown];
  });
}

function describeOutput(
  detail_id: string,
  output: AgentOutput,
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
