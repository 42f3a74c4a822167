import type { RecordChange, RunRecord, StoredWave } from '../../contracts/run-record.ts';
import { listCompleted } from './list-deliverables.ts';
import { treePaths } from './paths.ts';
import { textOf, findPlanned } from './record-texts.ts';
import { renderConversationSummary } from './render-conversation-summary.ts';
import { renderJson, renderSharedStatus } from './render-shared-status.ts';
import type { RecordTexts, TextRefs } from './record-texts.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TaskRecord } from '../../contracts/team-run.ts';
import type { TriadOutcome } from '../../contracts/triad-run.ts';
import { renderPhase } from './render-phase.ts';
import { renderTeam } from './render-team.ts';

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

/** Lists the reports of triads and teams. */
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

/** One file of a run's tree: where it is, what its rendering needs, and what makes it change. */
export interface ProjectedFile {
  readonly path: string;
  readonly needs: TextRefs;
  /** Returns true if this change can make the file differ. */
  readonly changesWith: (change: RecordChange) => boolean;
  readonly render: (texts: RecordTexts) => string;
  /** Files that only what it needs knows of. If undefined, there are none. */
  readonly below?: (texts: RecordTexts) => readonly ProjectedFile[];
}

/** A delegation, or a task of a team, that is over. */
type Done = Pick<TaskRecord, 'delegation_id' | 'plan_ref' | 'triad' | 'team'>;

/**
 * Lists the reports of a triad or a team, and of those among its members. Written when each of them ends
 * (`recordPhase`, `recordTeam`), so no change of the record makes them differ.
 */
function listReportFiles(done: Done): readonly ProjectedFile[] {
  const { delegation_id, team } = done;
  return [
    ...listPhaseFiles(done),
    ...(team === undefined ? [] : [teamFile(delegation_id, team.report_ref)]),
  ];
}

function listPhaseFiles({ delegation_id, plan_ref, triad }: Done): readonly ProjectedFile[] {
  return newestPhases(triad).map(({ phase, report_ref }) => ({
    path: treePaths.triadPhase(delegation_id, phase),
    needs: { plans: [plan_ref], phases: [report_ref] },
    changesWith: () => false,
    render: ({ phases, plans }) =>
      renderPhase(textOf(phases, report_ref), findPlanned(delegation_id, textOf(plans, plan_ref))),
  }));
}

/** Returns the last attempt of each phase. */
function newestPhases(triad: TriadOutcome | undefined): TriadOutcome['phases'] {
  return [...new Map(triad?.phases.map((one) => [one.phase, one])).values()];
}

function teamFile(delegationId: string, reportRef: Ref): ProjectedFile {
  return {
    path: treePaths.team(delegationId),
    needs: { teams: [reportRef] },
    changesWith: () => false,
    render: ({ teams }) => renderTeam(textOf(teams, reportRef), delegationId),
    below: ({ teams }) => textOf(teams, reportRef).tasks.flatMap(listReportFiles),
  };
}

/** `effects.jsonl`: what tools changed outside, or were to change, in the order of the calls. */
function renderEffects(record: RunRecord): string {
  return renderJsonLines(record.effects ?? []);
}

/** One JSON object a line. No entries are an empty file. */
function renderJsonLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/** `pool.jsonl`: every fact of the run, in the order of recording. */
function renderPool(record: RunRecord): string {
  return renderJsonLines(record.facts);
}

/**
 * `questions.jsonl`: the inbox. First the answered questions in the order of answering, then the open ones, then the
 * answers that were not taken, each with the reason.
 */
function renderQuestions(record: RunRecord): string {
  return renderJsonLines([
    ...record.answered_questions.map((answered) => ({ state: 'answered', ...answered })),
    ...record.open_questions.map((question) => ({ state: 'open', ...question })),
    ...record.rejected_answers.map((rejected) => ({ state: 'rejected', ...rejected })),
  ]);
}
