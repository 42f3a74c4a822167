import type { WaveSummary } from '../../../contracts/planner-run.ts';
import type { Question } from '../../../contracts/question.ts';
import type { Usage } from '../../../contracts/usage.ts';
import type {
  DelegationView,
  StatusView,
  TeamView,
  TriadPhaseView,
  WaveView,
} from '../../../contracts/views.ts';
import type { ActivityReading } from '../../delegation-reading.ts';
import type { RunListing } from '../../run-listing.ts';
import { addUsage } from '../../../core/usage/add-usage.ts';
import { isWholeUsage } from '../../usage-now.ts';

/** What is known of a run at one moment. */
export interface RunSnapshot {
  /** From the server, so it is there with every worker off. */
  readonly run: RunListing;
  /** Null when no worker answers; `note` then says why. */
  readonly status: StatusView | null;
  /** Set also when the run answers and one of its children is stuck. */
  readonly note: string | null;
  readonly done: readonly WaveSummary[];
  /** What the wave at work is to achieve, or null while it is being planned. */
  readonly plan_summary: string | null;
  readonly wave: WaveSnapshot | null;
  readonly questions: readonly Question[];
}

export interface WaveSnapshot extends Omit<WaveView, 'delegations'> {
  readonly delegations: readonly DelegationSnapshot[];
}

/** All that the run has used as far as it was told, the wave at work too. */
export function usageOf(status: StatusView, wave: WaveSnapshot | null): Usage {
  if (wave === null || isWholeUsage(status)) return status.usage;
  const atWork = wave.delegations.filter((one) => wave.at_work.includes(one.workflow_id));
  return addUsage(status.usage, wave.usage, ...atWork.flatMap(({ usage }) => usage ?? []));
}

export interface DelegationSnapshot extends DelegationView {
  /** Null until a worker told it. */
  readonly usage: Usage | null;
  /** Where its triad is, or null. */
  readonly triad_phase: TriadPhaseView | null;
  /** Where its team is, or was at its end, or null. */
  readonly team_view: TeamView | null;
  /** What it does at this moment, or null. */
  readonly activity: ActivityReading | null;
}
