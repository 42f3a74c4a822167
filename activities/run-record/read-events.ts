import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type {
  EventOf,
  FoundOutput,
  PlannedTask,
  RunEvent,
  WaveFindings,
} from '../../contracts/run-log.ts';
import type { PlanAgent } from '../../contracts/design-run.ts';
import type { RecordChange, RecordedWave, RunRecord } from '../../contracts/run-record.ts';
import { foldRun } from '../../core/run/fold-run.ts';
import { findCauses, readConsumptions, readShown } from '../../core/run/track-consumption.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { oneLine } from '../../core/text/markdown.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { loadTexts, textOf, type RecordTexts, type TextRefs } from '../projection/record-texts.ts';
import { countBytes } from '../text/bytes.ts';
import { quoteAgents, quoteTasks } from '../../core/design/describe-design.ts';
import { definedOnly } from '../../core/json.ts';

/** Most characters of a summary: an agent chooses by it which details to load. */
const summaryCharsMax = 300;

export interface ReadEvents {
  readonly events: readonly RunEvent[];
  /** The record after the events. */
  readonly record: RunRecord;
}

/**
 * Turns changes into events: reads what the artifacts say that they name.
 *
 * @param at Unix epoch seconds.
 * @throws {ArtifactCorrupt} when an artifact is missing, damaged or of another shape.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function readEvents(
  store: ArtifactStore,
  before: RunRecord,
  changes: readonly RecordChange[],
  at: number,
): Promise<ReadEvents> {
  const texts = await loadTexts(store, [
    ...changes.map(changeNeeds),
    { coordination_plans: before.design?.plan_refs.slice(-1) ?? [] },
  ]);
  const events: RunEvent[] = [];
  let record = before;
  for (const change of changes) {
    const event = toEvent(record, change, texts, at);
    events.push(event);
    record = foldRun(record, event);
  }
  return { events, record };
}

/** Lists the artifacts that a change names, and its event quotes. */
function changeNeeds(change: RecordChange): TextRefs {
  if (change.type === 'wave_planned') return { plans: [change.progress.plan_ref] };
  if (change.type === 'designed') return { coordination_plans: change.progress.plan_refs };
  if (change.type !== 'wave_done') return {};
  const { plan_ref, decision_ref, record_ref, outcomes } = change.wave;
  return {
    plans: [plan_ref],
    decisions: [decision_ref],
    records: [record_ref],
    outputs: outcomes.map((outcome) => outcome.output_ref),
  };
}

function toEvent(
  record: RunRecord,
  change: RecordChange,
  texts: RecordTexts,
  at: number,
): RunEvent {
  if (change.type === 'wave_planned') {
    const { delegations } = textOf(texts.plans, change.progress.plan_ref);
    return { ...change, at, tasks: delegations.map(quoteTask) };
  }
  if (change.type === 'designed')
    return {
      ...change,
      at,
      tasks: listApproved(record, change, texts),
      plan_agents: listAgents(change, texts),
    };
  if (change.type !== 'wave_done') return { ...change, at };
  const event = { ...change, at, found: findInWave(record, change.wave, texts) };
  return { ...event, found: { ...event.found, outdated: findOutdated(record, event, texts) } };
}

/** Lists the agents of a new version of the plan; null without one. */
function listAgents(
  { progress }: Extract<RecordChange, { readonly type: 'designed' }>,
  texts: RecordTexts,
): readonly PlanAgent[] | null {
  const ref = progress.plan_refs.at(-1);
  if (ref === undefined) return null;
  return quoteAgents(textOf(texts.coordination_plans, ref));
}

/** Lists the tasks of the plan that a design ends with. */
function listApproved(
  { design }: RunRecord,
  { progress }: Extract<RecordChange, { readonly type: 'designed' }>,
  texts: RecordTexts,
): readonly PlannedTask[] {
  const ref = progress.plan_refs.at(-1) ?? design?.plan_refs.at(-1);
  if (progress.status !== 'approved' || ref === undefined) return [];
  return quoteTasks(textOf(texts.coordination_plans, ref));
}

function findInWave(record: RunRecord, wave: RecordedWave, texts: RecordTexts): WaveFindings {
  const { plan_ref, decision_ref, record_ref, outcomes } = wave;
  const plan = plan_ref === null ? null : textOf(texts.plans, plan_ref);
  const shown = record_ref === null ? null : textOf(texts.records, record_ref);
  const decision = decision_ref === null ? null : textOf(texts.decisions, decision_ref);
  const refs = outcomes.flatMap(({ output_ref }) => output_ref ?? []);
  return {
    tasks: (plan?.delegations ?? []).map(quoteTask),
    outputs: Object.fromEntries(
      refs.map((ref) => [ref, quoteOutput(textOf(texts.outputs, ref))] as const),
    ),
    decision:
      decision === null
        ? null
        : {
            facts: decision.facts,
            criteria_reopened: decision.criteria_reopened,
            conflicts_resolved: decision.planner_decision.conflicts_resolved,
          },
    shown: shown === null ? null : readShown(shown),
    consumptions:
      plan === null || shown === null ? [] : readConsumptions(record, shown, wave, plan),
    outdated: [],
  };
}

/** Finds what the wave's packets showed and its end, or anything before, has taken back. */
function findOutdated(
  record: RunRecord,
  event: EventOf<'wave_done'>,
  texts: RecordTexts,
): WaveFindings['outdated'] {
  const { record_ref } = event.wave;
  const shown = record_ref === null ? record : textOf(texts.records, record_ref);
  return findCauses(shown, foldRun(record, event)).map((cause) => {
    if (cause.type !== 'fact') return cause;
    const { fact_id, source_refs, superseded_by } = cause.fact;
    return { ...cause, fact: { fact_id, source_refs, superseded_by } };
  });
}

function quoteTask({
  delegation_id,
  acceptance_criteria,
  redoes,
  replaces,
  answers,
}: Delegation): PlannedTask {
  return {
    delegation_id,
    acceptance_criteria,
    ...definedOnly({ redoes, replaces, answers }),
  };
}

function quoteOutput({
  facts,
  assumptions_made,
  coverage,
  compact_md,
  detailed_md,
}: AgentOutput): FoundOutput {
  return {
    facts,
    assumptions_made,
    coverage,
    summary: cutText(oneLine(compact_md), summaryCharsMax),
    bytes: countBytes(detailed_md),
  };
}
