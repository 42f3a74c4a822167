import type { RecordChange, RunRecord, StoredWave } from '../../contracts/run-record.ts';
import type { TriadOutcome } from '../../contracts/triad-run.ts';
import { listCompleted } from './list-deliverables.ts';
import { treePaths } from './paths.ts';
import { textOf } from './record-texts.ts';
import type { RecordTexts, TextRefs } from './record-texts.ts';
import { renderConversationSummary } from './render-conversation-summary.ts';
import { renderEffects } from './render-effects.ts';
import { renderJson } from './render-json.ts';
import { plannedTriad, renderPhase } from './render-phase.ts';
import { renderPool } from './render-pool.ts';
import { renderQuestions } from './render-questions.ts';
import { renderSharedStatus } from './render-shared-status.ts';

/** One file of a run's tree: where it is, what its rendering needs, and what makes it change. */
export interface ProjectedFile {
  readonly path: string;
  readonly needs: TextRefs;
  /** Whether this change can make the file differ. */
  readonly changesWith: (change: RecordChange) => boolean;
  readonly render: (texts: RecordTexts) => string;
}

/** Every file of the tree that belongs to a record. The same record gives the same files, byte for byte. */
export function listFiles(record: RunRecord): readonly ProjectedFile[] {
  return [
    ...listRunFiles(record),
    ...listEffects(record),
    ...record.waves.flatMap(listWaveFiles),
    ...record.waves.flatMap(listTriadFiles),
    ...listTaskOutputs(record),
    ...listResult(record),
  ];
}

function listRunFiles(record: RunRecord): readonly ProjectedFile[] {
  return [
    {
      path: treePaths.sharedStatus,
      needs: { plans: record.waves.map((wave) => wave.plan_ref) },
      changesWith: () => true,
      render: (texts) => renderSharedStatus(record, texts),
    },
    {
      path: treePaths.conversationSummary(record.goal_title),
      needs: {
        plans: record.waves.map((wave) => wave.plan_ref),
        decisions: record.waves.map((wave) => wave.decision_ref),
      },
      changesWith: ({ type }) => !isApart.has(type),
      render: (texts) => renderConversationSummary(record, texts),
    },
    {
      path: treePaths.pool,
      needs: {},
      changesWith: ({ type }) =>
        type === 'wave_done' ||
        type === 'question_answered' ||
        type === 'answer_amended' ||
        type === 'instruction',
      render: () => renderPool(record),
    },
    {
      path: treePaths.questions,
      needs: {},
      changesWith: ({ type }) => type.startsWith('question_') || type.startsWith('answer_'),
      render: () => renderQuestions(record),
    },
  ];
}

/** Changes that the summary of the conversation does not tell. */
const isApart: ReadonlySet<RecordChange['type']> = new Set([
  'phase',
  'answer_rejected',
  'effect',
  'ended',
]);

/** A run whose tools change nothing has no such file. */
function listEffects(record: RunRecord): readonly ProjectedFile[] {
  if (record.effects === undefined) return [];
  return [
    {
      path: treePaths.effects,
      needs: {},
      changesWith: ({ type }) => type === 'effect' || type === 'ended',
      render: () => renderEffects(record),
    },
  ];
}

function listWaveFiles(wave: StoredWave): readonly ProjectedFile[] {
  const ref = wave.decision_ref;
  if (ref === null) return [];
  const shared = { needs: { decisions: [ref] }, changesWith: isEndOf(wave.wave) };
  return [
    {
      ...shared,
      path: treePaths.waveCompact(wave.wave),
      render: (texts) => textOf(texts.decisions, ref).wave_compact,
    },
    {
      ...shared,
      path: treePaths.waveDetailed(wave.wave),
      render: (texts) => textOf(texts.decisions, ref).wave_detailed,
    },
    {
      ...shared,
      path: treePaths.plannerDecision(wave.wave),
      render: (texts) => renderJson(textOf(texts.decisions, ref).planner_decision),
    },
  ];
}

/** Written at the end of each phase (`recordPhase`), so no change of the record makes them differ. */
function listTriadFiles({ plan_ref, outcomes }: StoredWave): readonly ProjectedFile[] {
  if (plan_ref === null) return [];
  return outcomes.flatMap(({ delegation_id, triad }) =>
    newestPhases(triad).map(({ phase, report_ref }): ProjectedFile => ({
      path: treePaths.triadPhase(delegation_id, phase),
      needs: { plans: [plan_ref], phases: [report_ref] },
      changesWith: () => false,
      render: ({ phases, plans }) =>
        renderPhase(
          textOf(phases, report_ref),
          plannedTriad(delegation_id, textOf(plans, plan_ref)),
        ),
    })),
  );
}

/** Of each phase the last attempt. */
function newestPhases(triad: TriadOutcome | undefined): TriadOutcome['phases'] {
  return [...new Map(triad?.phases.map((one) => [one.phase, one])).values()];
}

function listTaskOutputs(record: RunRecord): readonly ProjectedFile[] {
  return listCompleted(record).map((one) => ({
    path: treePaths.taskOutput(one.agent_id, one.delegation_id),
    needs: { outputs: [one.output_ref] },
    changesWith: isEndOf(one.wave),
    render: (texts) => textOf(texts.outputs, one.output_ref).detailed_md,
  }));
}

function listResult(record: RunRecord): readonly ProjectedFile[] {
  const ref = record.result_ref;
  if (ref === null) return [];
  return [
    {
      path: treePaths.result,
      needs: { markdown: [ref] },
      changesWith: ({ type }) => type === 'ended',
      render: (texts) => textOf(texts.markdown, ref),
    },
  ];
}

function isEndOf(wave: number): ProjectedFile['changesWith'] {
  return (change) => change.type === 'wave_done' && change.wave.wave === wave;
}
