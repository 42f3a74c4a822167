import type { AgentOutput, Fact } from './agent-output.ts';
import type { Consumption, RecordChange, ShownToWave } from './run-record.ts';
import type { Delegation } from './delegation.ts';
import type { PlanAgent } from './design-run.ts';
import type { Ref } from './ref.ts';
import type { WaveDecision } from './wave-plan.ts';

/** Versions of a revision's shape, newest last. A reader refuses others by name. */
export const revisionVersions = [1] as const;

/**
 * One update of a run's record: what happened, and the revision before it. The record is the fold over all events since
 * the newest snapshot, so an update stores its own events and not the run.
 */
export interface RecordRevision {
  readonly version: (typeof revisionVersions)[number];
  /** One more than that of the revision before. */
  readonly revision: number;
  /** The revision before it: the record with which the run began, or another revision. */
  readonly previous_ref: Ref;
  readonly events: readonly RunEvent[];
  /** The newest record that is stored whole: of this revision, or of an earlier one. */
  readonly base: RecordBase;
}

/** A record that is stored whole, and the weight of what came after it. */
export interface RecordBase {
  readonly ref: Ref;
  readonly revision: number;
  /** Characters of its JSON. */
  readonly chars: number;
  /** Characters of all events since, as JSON. */
  readonly chars_since: number;
}

/** A change, with what the fold needs of the artifacts that it names. The fold itself reads nothing. */
export type RunEvent = {
  /** Unix epoch seconds. */
  readonly at: number;
} & (
  | Exclude<RecordChange, ChangeOf<'wave_planned'> | ChangeOf<'wave_done'> | ChangeOf<'designed'>>
  /** `tasks`: those of an approved plan; before the approval there are none. `plan_agents`: of a new version; else null. */
  | (ChangeOf<'designed'> & {
      readonly tasks: readonly PlannedTask[];
      readonly plan_agents: readonly PlanAgent[] | null;
    })
  | (ChangeOf<'wave_planned'> & { readonly tasks: readonly PlannedTask[] })
  | (ChangeOf<'wave_done'> & { readonly found: WaveFindings })
  /** `result.md` and `report.md` of a run that has ended. */
  | { readonly type: 'reported'; readonly result_ref: Ref; readonly report_ref: Ref }
);

export type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { readonly type: T }>;

type ChangeOf<T extends RecordChange['type']> = Extract<RecordChange, { readonly type: T }>;

export type PlannedTask = Pick<
  Delegation,
  'delegation_id' | 'acceptance_criteria' | 'redoes' | 'replaces' | 'answers'
>;

/** Contents of the artifacts of an ended wave, as far as the record takes them. */
export interface WaveFindings {
  /** Empty without a plan. */
  readonly tasks: readonly PlannedTask[];
  /** Outputs by their address. */
  readonly outputs: FoundOutputs;
  /** Null without one. */
  readonly decision: FoundDecision | null;
  /** Contents of its packets. Null when it had no plan. */
  readonly shown: ShownToWave | null;
  /** Basis of its completed delegations. */
  readonly consumptions: readonly Consumption[];
  /** Contents of its packets that do not hold any more. */
  readonly outdated: readonly StaleCause[];
}

export type FoundOutputs = Readonly<Record<Ref, FoundOutput>>;

export interface FoundOutput extends Pick<AgentOutput, 'facts' | 'assumptions_made' | 'coverage'> {
  /** The compact output as one line. */
  readonly summary: string;
  /** Bytes of the detailed output. */
  readonly bytes: number;
}

export type FoundDecision = Pick<WaveDecision, 'facts' | 'criteria_reopened'> &
  Pick<WaveDecision['planner_decision'], 'conflicts_resolved'>;

/** A reason why work that was built on something is stale. */
export type StaleCause =
  | {
      readonly type: 'fact';
      readonly fact: Pick<Fact, 'fact_id' | 'source_refs' | 'superseded_by'>;
      /** Source of the fact that holds instead. */
      readonly by: string;
    }
  | { readonly type: 'answer'; readonly question_id: string }
  | {
      readonly type: 'input';
      readonly name: string;
      /** Earlier source of the name. */
      readonly source: string;
      /** Present source of the name. */
      readonly by: string;
    }
  | {
      readonly type: 'replaced';
      /** Source of the output that no longer counts. */
      readonly source: string;
      /** Source of the output that replaces it. */
      readonly by: string;
      /** Sources that the replacement was made from: it has taken them into account. */
      readonly made_from: readonly string[];
    };
