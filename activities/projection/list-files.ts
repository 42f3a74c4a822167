import type { RunRecord, StoredWave } from '../../contracts/run-record.ts';
import { parseJson } from '../../core/json.ts';
import { listCompleted } from '../../core/run/list-deliverables.ts';
import { resultLimits } from './limits.ts';
import { treePaths } from './paths.ts';
import { textOf, findPlanned, type ProjectedFile } from './record-texts.ts';
import { renderConversationSummary } from './render-conversation-summary.ts';
import { renderJson, renderSharedStatus } from './render-shared-status.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TaskRecord } from '../../contracts/team-run.ts';
import {
  agentNameOf,
  describePlanStatus,
  interviewRef,
  listDesignFiles,
  outputPath,
  planRefOf,
  renderInterview,
} from './render-design.ts';
import { renderPhase } from './render-phase.ts';
import { listSessionFiles } from './render-sessions.ts';
import { renderTeam } from './render-team.ts';
import { newestPhases } from '../../core/triad/end-phase.ts';
import { VerificationResults, type EarlierJudgement } from '../../contracts/verification.ts';

/** Lists every file of the tree that belongs to a record. The same record gives the same files, byte for byte. */
export function listFiles(record: RunRecord): readonly ProjectedFile[] {
  return [
    ...listRunFiles(record),
    ...listDesignFiles(record),
    ...record.waves.flatMap(listWaveFiles),
    ...record.waves.flatMap(listReports),
    ...listTaskOutputs(record),
    ...listFailures(record),
    ...listSessionFiles(record),
    ...listResult(record),
  ];
}

function listRunFiles(record: RunRecord): readonly ProjectedFile[] {
  const shown = record.waves.slice(-resultLimits.summaryWavesMax);
  const plans = shown.map((wave) => wave.plan_ref);
  return [
    {
      path: treePaths.sharedStatus,
      of: [
        record.phase,
        record.waves,
        record.criteria,
        record.design?.plan_refs,
        record.sessions,
        record.open_questions,
        record.answered_questions,
      ],
      needs: { plans: plans.slice(-1), coordination_plans: [planRefOf(record)] },
      render: (texts) => {
        const ref = planRefOf(record);
        return ref === null
          ? renderSharedStatus(record, texts)
          : renderJson(describePlanStatus(record, ref, texts));
      },
    },
    listSummary(record, plans, shown),
    ...listPages(treePaths.pool, record.facts, []),
    ...listPages(
      treePaths.questions,
      record.answered_questions,
      [record.open_questions, record.rejected_answers],
      // First the answered ones in the order of answering, then the open ones, then the refused answers.
      {
        line: (answered) => ({ state: 'answered', ...answered }),
        rest: () => [
          ...record.open_questions.map((question) => ({ state: 'open', ...question })),
          ...record.rejected_answers.map((rejected) => ({ state: 'rejected', ...rejected })),
        ],
      },
    ),
    // A run whose tools change nothing has none.
    ...(record.effects === undefined ? [] : listPages(treePaths.effects, record.effects, [])),
  ];
}

/** The summary of a run's conversation: of a design's interview where there is one, otherwise of the whole run. */
function listSummary(
  record: RunRecord,
  plans: readonly (Ref | null)[],
  shown: readonly StoredWave[],
): ProjectedFile {
  const path = treePaths.conversationSummary(record.goal_title);
  const interview = interviewRef(record.design);
  if (interview !== null) {
    return {
      path,
      of: [interview],
      needs: { conversation_summaries: [interview] },
      render: (texts) => renderInterview(texts, interview),
    };
  }
  return {
    path,
    of: [
      record.status,
      record.instructions,
      record.criteria,
      record.waves,
      record.facts,
      record.open_questions,
      record.answered_questions,
    ],
    needs: { plans, decisions: shown.map((wave) => wave.decision_ref) },
    render: (texts) => renderConversationSummary(record, texts),
  };
}

function listWaveFiles(wave: StoredWave): readonly ProjectedFile[] {
  const ref = wave.decision_ref;
  if (ref === null) return [];
  const shared = { of: [ref], needs: { decisions: [ref] } };
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
  return outcomes.flatMap((outcome) => {
    const { judgement, earlier_judgements: earlier = [] } = outcome.verification ?? {};
    return [
      ...listReportFiles({ ...outcome, plan_ref }),
      ...earlier.flatMap((one) => listPhaseFiles(one, one)),
      ...(judgement === undefined ? [] : listReportFiles(judgement)),
    ];
  });
}

function listTaskOutputs(record: RunRecord): readonly ProjectedFile[] {
  return listCompleted(record).map((one) => ({
    path: outputPath(record, one),
    of: [one.output_ref],
    needs: { outputs: [one.output_ref] },
    render: (texts) => textOf(texts.outputs, one.output_ref).detailed_md,
  }));
}

/**
 * Lists the results of verifications that have failed: below each agent the newest, until the evidence is there or another
 * output of the agent is verified in a later wave. `recordVerification` shows them before that, while the wave works.
 */
function listFailures(record: RunRecord): readonly ProjectedFile[] {
  const open = new Set(
    record.criteria.flatMap(({ criterion_id, state }) => (state === 'open' ? criterion_id : [])),
  );
  const failed = new Map<string, { readonly ref: Ref; readonly task_id: string }>();
  for (const { outcomes } of record.waves) {
    const pathOf = (one: (typeof outcomes)[number]): string =>
      treePaths.verificationResults(agentNameOf(record, one));
    for (const one of outcomes) {
      if (one.verification?.status === 'verified') failed.delete(pathOf(one));
    }
    for (const one of outcomes) {
      const { verification, criteria_unmet: unmet } = one;
      const ref = verification?.results_refs.at(-1);
      const isLeft = unmet.length === 0 || unmet.some((id) => open.has(id));
      if (verification?.status !== 'verified' && ref !== undefined && isLeft) {
        failed.set(pathOf(one), { ref, task_id: one.delegation_id });
      }
    }
  }
  return [...failed].map(([path, { ref, task_id }]) => ({
    path,
    of: [ref],
    needs: { markdown: [ref] },
    render: (texts) => textOf(texts.markdown, ref),
    // Another task of the agent, at work, may have failed since.
    mayGo: (text, now) => isOver(text, task_id, now),
  }));
}

/**
 * Returns true for results that no task at work needs any more: those of the task itself, of one that ended in an earlier
 * wave, and what are no results.
 */
export function isOver(text: string, task_id: string, { waves }: RunRecord): boolean {
  const { data } = VerificationResults.safeParse(parseJson(text));
  if (data === undefined || data.task_id === task_id) return true;
  const ended = waves.flatMap(({ outcomes }) => outcomes.map((one) => one.delegation_id));
  return ended.includes(data.task_id);
}

/** Lists result and report. A run that has ended has both. */
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
            of: [ref],
            needs: { markdown: [ref] },
            render: (texts) => textOf(texts.markdown, ref),
          } satisfies ProjectedFile,
        ],
  );
}

/** A delegation, or a task of a team, that is over. */
type Done = Pick<TaskRecord, 'delegation_id' | 'plan_ref' | 'executor'>;

/**
 * Lists the reports of a triad or a team, and of those among its members. `recordPhase` and `recordTeam` write them when each
 * ends. They are written again with their wave: a reset of the run may have removed them in between.
 */
function listReportFiles(done: Done): readonly ProjectedFile[] {
  const { delegation_id, executor } = done;
  if (executor.kind === 'agent' || executor.work === null) return [];
  return executor.kind === 'triad'
    ? listPhaseFiles(done, { phases: newestPhases(executor.work) })
    : [teamFile(delegation_id, executor.work.report_ref)];
}

function listPhaseFiles(
  { delegation_id, plan_ref }: Pick<Done, 'delegation_id' | 'plan_ref'>,
  triad: Pick<EarlierJudgement, 'phases'>,
): readonly ProjectedFile[] {
  return triad.phases.map(({ phase, report_ref }) => ({
    path: treePaths.triadPhase(delegation_id, phase),
    needs: { plans: [plan_ref], phases: [report_ref] },
    of: [report_ref],
    render: ({ phases, plans }) =>
      renderPhase(textOf(phases, report_ref), findPlanned(delegation_id, textOf(plans, plan_ref))),
  }));
}

function teamFile(delegationId: string, reportRef: Ref): ProjectedFile {
  return {
    path: treePaths.team(delegationId),
    needs: { teams: [reportRef] },
    of: [reportRef],
    render: ({ teams }) => renderTeam(textOf(teams, reportRef), delegationId),
    below: ({ teams }) => textOf(teams, reportRef).tasks.flatMap(listReportFiles),
  };
}

/** Rule by which a list of the record becomes lines of JSON. */
interface Lines<T> {
  readonly line: (entry: T) => unknown;
  /** Values that follow the entries of the newest page. */
  readonly rest: () => readonly unknown[];
}

/**
 * Lists the pages of a list that only grows: the newest entries under `path`, and each full page before them in a file of
 * its own, so that adding an entry does not rewrite the others.
 *
 * @param others Sources of the newest page besides the entries.
 */
function listPages<T>(
  path: string,
  entries: readonly T[],
  others: readonly unknown[],
  { line, rest }: Lines<T> = { line: (entry) => entry, rest: () => [] },
): readonly ProjectedFile[] {
  const size = resultLimits.pageEntriesMax;
  const full = Math.max(0, Math.ceil(entries.length / size) - 1);
  return Array.from({ length: full + 1 }, (_, index) => {
    const page = entries.slice(index * size, (index + 1) * size);
    const isNewest = index === full;
    return {
      path: isNewest ? path : treePaths.page(path, index + 1),
      of: isNewest ? [...page, ...others] : page,
      needs: {},
      render: () =>
        [...page.map(line), ...(isNewest ? rest() : [])]
          .map((value) => `${JSON.stringify(value)}\n`)
          .join(''),
    };
  });
}
