import type { RecordChange, RunRecord, StoredWave } from '../../contracts/run-record.ts';
import { listCompleted } from './list-deliverables.ts';
import { listReportFiles } from './list-report-files.ts';
import { treePaths } from './paths.ts';
import type { ProjectedFile } from './projected-file.ts';
import { textOf } from './record-texts.ts';
import { renderConversationSummary } from './render-conversation-summary.ts';
import { renderEffects } from './render-effects.ts';
import { renderJson } from './render-json.ts';
import { renderPool } from './render-pool.ts';
import { renderQuestions } from './render-questions.ts';
import { renderSharedStatus } from './render-shared-status.ts';

/** Every file of the tree that belongs to a record. The same record gives the same files, byte for byte. */
export function listFiles(record: RunRecord): readonly ProjectedFile[] {
  return [
    ...listRunFiles(record),
    ...listEffects(record),
    ...record.waves.flatMap(listWaveFiles),
    ...record.waves.flatMap(listReports),
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

/** How triads and teams came to their outputs. */
function listReports({ plan_ref, outcomes }: StoredWave): readonly ProjectedFile[] {
  if (plan_ref === null) return [];
  return outcomes.flatMap((outcome) => listReportFiles({ ...outcome, plan_ref }));
}

function listTaskOutputs(record: RunRecord): readonly ProjectedFile[] {
  return listCompleted(record).map((one) => ({
    path: treePaths.taskOutput(one.agent_id, one.delegation_id),
    needs: { outputs: [one.output_ref] },
    changesWith: isEndOf(one.wave),
    render: (texts) => textOf(texts.outputs, one.output_ref).detailed_md,
  }));
}

/** A run that has ended has both. */
function listResult({ result_ref, report_ref }: RunRecord): readonly ProjectedFile[] {
  const files = [
    [treePaths.result, result_ref],
    [treePaths.report, report_ref],
  ] as const;
  return files.flatMap(([path, ref]) =>
    ref === null
      ? []
      : [
          {
            path,
            needs: { markdown: [ref] },
            changesWith: ({ type }) => type === 'ended',
            render: (texts) => textOf(texts.markdown, ref),
          } satisfies ProjectedFile,
        ],
  );
}

function isEndOf(wave: number): ProjectedFile['changesWith'] {
  return (change) => change.type === 'wave_done' && change.wave.wave === wave;
}
