import type { Question } from '../../../contracts/question.ts';
import type { PlannerRunResult, WaveSummary } from '../../../contracts/planner-run.ts';
import type { TaskView, WaveView } from '../../../contracts/views.ts';
import type { Usage } from '../../../contracts/usage.ts';
import type { DelegationSnapshot } from './run-snapshot.ts';

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
    }
  | {
      readonly type: 'wave';
      readonly run_id: string;
      readonly wave: number;
      readonly phase: WaveView['phase'];
      readonly summary: string | null;
    }
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
  /** People were reminded of it, or somebody else is asked too. */
  | { readonly type: 'question_urged'; readonly run_id: string; readonly question: Question }
  | { readonly type: 'question_closed'; readonly run_id: string; readonly question_id: string }
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
  /** As the workflow returned it: Markdown, empty when there is none. */
  readonly answer: string;
  /** Where `result.md` is, the whole answer, for a worker on this machine; null without one. */
  readonly result_path: string | null;
  /** Where `report.md` is, everything else; null without one. */
  readonly report_path: string | null;
}
