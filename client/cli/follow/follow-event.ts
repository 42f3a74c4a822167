import { tellingOf as tellTaskState } from '../../tell-team.ts';
import { join } from 'node:path';
import type { EvaluationResult } from '../../../contracts/evaluation.ts';
import type { Question } from '../../../contracts/question.ts';
import type { PlannerRunResult, WaveSummary, RunAnswer } from '../../../contracts/planner-run.ts';
import type { EvaluationView, TaskView, WaveView, TeamView } from '../../../contracts/views.ts';
import type { Usage } from '../../../contracts/usage.ts';
import {
  type DelegationSnapshot,
  type RunSnapshot,
  type WaveSnapshot,
  usageOf,
} from './read-snapshot.ts';
import { answerCommand } from '../../../core/render/questions.ts';
import type { RunEnd } from '../../read-view.ts';
import type { RunListing } from '../../run-listing.ts';
import { exitCodes, type ExitCode } from '../cli-error.ts';
import { commandText, countOf } from '../../../core/text/format.ts';
import { teamViewOf } from '../../../core/executor.ts';

/** One change of a run, as `watch --json` prints it and as `watch` without a terminal words it. */
export type FollowEvent =
  | {
      readonly type: 'phase';
      readonly run_id: string;
      readonly phase: string;
      readonly wave: number | null;
      readonly waiting_for: readonly string[];
      /** Until now; null while no worker answers. */
      readonly usage: Usage | null;
      /** Cells of an evaluation: it is told again when they or its waits change. Absent in everything else. */
      readonly evaluation?: EvaluationView;
    }
  | {
      readonly type: 'wave';
      readonly run_id: string;
      readonly wave: number;
      readonly phase: WaveView['phase'];
      readonly summary: string | null;
    }
  /** Stages of a design that began to work. */
  | { readonly type: 'stages'; readonly run_id: string; readonly stages: readonly string[] }
  | { readonly type: 'wave_done'; readonly run_id: string; readonly summary: WaveSummary }
  | {
      readonly type: 'delegation';
      readonly run_id: string;
      readonly wave: number;
      readonly delegation: DelegationSnapshot;
    }
  /** A task of a team begins, waits, is tried again or ends. Tasks of teams among its members are told on their own. */
  | {
      readonly type: 'task';
      readonly run_id: string;
      readonly wave: number;
      readonly task: Omit<TaskView, 'team'>;
    }
  | {
      readonly type: 'question';
      readonly run_id: string;
      readonly question: Question;
      /** Answers it when pasted into a shell. */
      readonly command: string;
    }
  /** People were reminded of it, or another person is asked too. */
  | { readonly type: 'question_urged'; readonly run_id: string; readonly question: Question }
  | {
      readonly type: 'question_closed';
      readonly run_id: string;
      readonly question_id: string;
      /** False for one that was withdrawn or left at the end, where no worker told, and for the oldest of very many answers at once. */
      readonly answered: boolean;
    }
  /** Something about the watching itself: the connection, the worker, an answer that was sent. */
  | { readonly type: 'notice'; readonly run_id: string; readonly text: string }
  | RunEndedEvent;

export interface RunEndedEvent {
  readonly type: 'ended';
  readonly run_id: string;
  /** The run's own status, or how its workflow was closed. */
  readonly status: string;
  readonly reason: string;
  /** Null when it ended without a result, or is no run but a part of one: then `answer` and the paths tell. */
  readonly result: PlannerRunResult | null;
  /** Markdown that the workflow returned; empty when there is none. */
  readonly answer: string;
  /** Path of `result.md`, the whole answer, for a worker on this machine; null without one. */
  readonly result_path: string | null;
  /** Path of `report.md`, everything else; null without one. */
  readonly report_path: string | null;
}

/** Lists the changes from one snapshot to the next. Progress inside a turn is none. */
export function detectChanges(before: RunSnapshot | null, after: RunSnapshot): FollowEvent[] {
  return [
    ...noteChange(before, after),
    ...phaseChange(before, after),
    ...stageChange(before, after),
    ...waveChanges(before, after),
    ...doneWaves(before, after),
    ...questionChanges(before, after),
  ];
}

function noteChange(before: RunSnapshot | null, after: RunSnapshot): FollowEvent[] {
  if ((before?.note ?? null) === after.note) return [];
  const isAway = before?.status === null;
  const text = after.note ?? (isAway ? 'A worker answers again.' : 'A worker carries it on again.');
  return after.run.execution === 'running'
    ? [{ type: 'notice', run_id: after.run.run_id, text }]
    : [];
}

function tellPhase({ status, run }: RunSnapshot): string {
  const cells = status?.evaluation && [status.evaluation, status.waiting_for];
  return JSON.stringify([status?.phase ?? run.phase, cells]);
}

function phaseChange(before: RunSnapshot | null, after: RunSnapshot): FollowEvent[] {
  const { run, status } = after;
  const { phase, wave, waiting_for } = status ?? run;
  if (phase === null || run.execution !== 'running') return [];
  if (before !== null && tellPhase(before) === tellPhase(after)) return [];
  return [
    {
      type: 'phase',
      run_id: run.run_id,
      phase,
      wave,
      waiting_for,
      usage: status === null ? null : usageOf(status, after.wave),
      ...(status?.evaluation !== undefined && { evaluation: status.evaluation }),
    },
  ];
}

function stageChange(before: RunSnapshot | null, { run, status }: RunSnapshot): FollowEvent[] {
  const known = before?.status?.stages_at_work ?? [];
  const stages = (status?.stages_at_work ?? []).filter((stage) => !known.includes(stage));
  return stages.length === 0 ? [] : [{ type: 'stages', run_id: run.run_id, stages }];
}

function doneWaves(before: RunSnapshot | null, after: RunSnapshot): FollowEvent[] {
  return listNews(before?.done, after.done, ({ wave }) => [wave]).map((summary) => {
    return { type: 'wave_done', run_id: after.run.run_id, summary };
  });
}

/** Lists what is new or is told differently. @param tell Its id, and what is told again when it changes. */
function listNews<T>(
  before: readonly T[] | undefined,
  after: readonly T[],
  tell: (item: T) => readonly unknown[],
): readonly T[] {
  const known = new Set(before?.map((item) => JSON.stringify(tell(item))));
  return after.filter((item) => !known.has(JSON.stringify(tell(item))));
}

function waveChanges(before: RunSnapshot | null, after: RunSnapshot): FollowEvent[] {
  const { wave, run, plan_summary, done } = after;
  if (wave === null) return [];
  const earlier = before?.wave?.wave === wave.wave ? before.wave : null;
  // Of a wave's end, its summary tells more.
  const isTold = earlier?.phase === wave.phase || done.some((other) => other.wave === wave.wave);
  const phase: FollowEvent[] = isTold
    ? []
    : [
        {
          type: 'wave',
          run_id: run.run_id,
          wave: wave.wave,
          phase: wave.phase,
          summary: wave.phase === 'planning' ? null : plan_summary,
        },
      ];
  const place = { run_id: run.run_id, wave: wave.wave };
  // The phases of a triad are told; their rounds and turns are not.
  const delegations = listNews(earlier?.delegations, wave.delegations, (one) => [
    one.delegation_id,
    one.state,
    one.triad_phase?.phase ?? '',
    one.verification?.state ?? '',
    one.verification?.attempt ?? 0,
    one.reason,
  ]);
  const tasks = listNews(tasksOf(earlier), tasksOf(wave), (task) => [
    task.delegation_id,
    tellTaskState(task),
  ]);
  return [
    ...phase,
    ...delegations.map((delegation): FollowEvent => ({ type: 'delegation', ...place, delegation })),
    ...tasks.map((task): FollowEvent => ({ type: 'task', ...place, task: withoutTeam(task) })),
  ];
}

/** Removes the team of a task; the team's tasks have events of their own. */
function withoutTeam(task: TaskView): TaskView {
  const { executor } = task;
  return executor.kind === 'team' ? { ...task, executor: { ...executor, view: null } } : task;
}

/** The tasks of a wave's teams, each before those of a team that does it. */
function tasksOf(wave: WaveSnapshot | null): readonly TaskView[] {
  return (wave?.delegations ?? []).flatMap(({ team_view }) => listTasks(team_view));
}

function listTasks(team: TeamView | null): readonly TaskView[] {
  return (team?.tasks ?? []).flatMap((task) => [task, ...listTasks(teamViewOf(task.executor))]);
}

function questionChanges(before: RunSnapshot | null, after: RunSnapshot): FollowEvent[] {
  const run_id = after.run.run_id;
  const earlier = before?.questions ?? [];
  const open = new Set(after.questions.map(({ question_id }) => question_id));
  const known = new Set(earlier.map(({ question_id }) => question_id));
  const closed = earlier.filter(({ question_id }) => !open.has(question_id));
  const urged = listNews(
    earlier,
    after.questions.filter(({ question_id }) => known.has(question_id)),
    ({ question_id, reminded, escalated_at }) => [question_id, reminded, escalated_at],
  );
  return [
    ...closed.map(({ question_id }): FollowEvent => {
      return {
        type: 'question_closed',
        run_id,
        question_id,
        answered: isAnswered(after, question_id),
      };
    }),
    ...after.questions
      .filter(({ question_id }) => !known.has(question_id))
      .map((question): FollowEvent => {
        return { type: 'question', run_id, question, command: answerCommand(run_id, question) };
      }),
    ...urged.map((question): FollowEvent => ({ type: 'question_urged', run_id, question })),
  ];
}

export function isAnswered({ answered }: Pick<RunSnapshot, 'answered'>, id: string): boolean {
  return answered.some(({ question_id }) => question_id === id);
}

/** @param artifactHome folder below which a worker on this machine writes, `PLANWAVE_HOME`; null when it writes no files */
export function toRunEndedEvent(
  { run_id, phase }: Pick<RunListing, 'run_id' | 'phase'>,
  end: RunEnd,
  artifactHome: string | null,
): RunEndedEvent {
  const ended = { type: 'ended', run_id, reason: '', result: null } as const;
  if (end.ended === 'result') {
    const { result } = end;
    const { status, stop_reason: reason = '' } = result;
    return { ...ended, status, reason, result, ...placeAnswer(result, artifactHome) };
  }
  if (end.ended === 'part') {
    const { outcome } = end;
    const answer = 'answer' in outcome ? placeAnswer(outcome, artifactHome) : noAnswer;
    const stopped = 'stop_reason' in outcome ? outcome.stop_reason : undefined;
    const reason = stopped ?? ('reason' in outcome ? outcome.reason : '');
    return { ...ended, status: phase ?? outcome.status, reason, ...answer };
  }
  if (end.ended === 'evaluation') {
    const { cells } = end.evaluation;
    const passed = cells.filter((cell) => cell.passed).length;
    const reason = `${passed} of ${countOf(cells.length, 'cell')} passed. All of them: ${commandText('report', run_id)}`;
    return { ...ended, status: 'completed', reason, ...noAnswer };
  }
  return { ...ended, status: end.ended, reason: end.reason, ...noAnswer };
}

type PlacedAnswer = Pick<RunEndedEvent, 'answer' | 'result_path' | 'report_path'>;

const noAnswer: PlacedAnswer = { answer: '', result_path: null, report_path: null };

function placeAnswer(
  { answer, result_path, report_path }: RunAnswer,
  artifactHome: string | null,
): PlacedAnswer {
  if (artifactHome === null) return { ...noAnswer, answer };
  return {
    answer,
    result_path: join(artifactHome, result_path),
    report_path: join(artifactHome, report_path),
  };
}

/** Input that the run refused is the caller's mistake, whenever it is found. */
export function exitCodeOfEnd(end: RunEnd, status: string): ExitCode {
  if (end.ended === 'evaluation') return exitCodeOfCells(end.evaluation);
  if (end.ended === 'result' || end.ended === 'part')
    return status === 'completed' ? exitCodes.ok : exitCodes.unmet;
  return end.type === 'InvalidInput' ? exitCodes.badInput : exitCodes.unmet;
}

/** An evaluation is done when every cell passed. */
export function exitCodeOfCells({ cells }: Pick<EvaluationResult, 'cells'>): ExitCode {
  return cells.every(({ passed }) => passed) ? exitCodes.ok : exitCodes.unmet;
}
