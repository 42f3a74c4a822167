import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { ExecutorOutline } from '../../contracts/executor.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TaskRecord } from '../../contracts/team-run.ts';
import type { DelegationStatusView } from '../../contracts/views.ts';
import type { Purse } from '../../core/budget/purse.ts';
import type { KnownEffect } from '../../core/output/check-claimed-effects.ts';
import type { TeamState } from '../../core/team/team-state.ts';
import type { FailureReason } from '../../core/turns/failure-reasons.ts';
import type { Control } from '../shared/control.ts';
import type { Conversation } from '../shared/conversation.ts';
import type { EscalationRouter } from '../shared/escalation-router.ts';
import type { Funds } from '../shared/funds.ts';
import type { SharedFunds } from '../shared/share-funds.ts';
import type { Superior } from '../shared/superior.ts';

/** What a delegation takes with it over continue-as-new, at a turn boundary. */
export interface CarriedDelegation {
  readonly kind: 'agent';
  readonly version: 1;
  readonly conversation: Conversation;
  /** Escalations so far; they number the next. */
  readonly escalations: number;
  /** Null without a budget. */
  readonly purse: Purse | null;
  /** As in DelegationOutcome. */
  readonly loaded_details: readonly string[];
  /** What it has tried to change outside. */
  readonly effects: readonly KnownEffect[];
}

/** What a team takes with it over continue-as-new, before a call of its leader: nobody else is at work then. */
export interface CarriedTeam {
  readonly kind: 'team';
  readonly version: 1;
  readonly state: TeamState;
  /** With the message as middlewares left it. */
  readonly record_ref: Ref;
  readonly plan_ref: Ref;
  readonly message_ref: Ref;
  readonly conversation: Conversation;
  /** Of tasks that are over. */
  readonly records: readonly TaskRecord[];
  readonly worked_ms: number;
  readonly notes: readonly string[];
  readonly escalations: number;
  readonly purse: Purse | null;
  /** Of the whole team. */
  readonly loaded_details: readonly string[];
  readonly effects: readonly KnownEffect[];
}

/** What a delegation continues itself with, whoever does it. */
export type CarriedWork = CarriedDelegation | CarriedTeam;

/** How a delegation ended, for whoever gave it out in the same workflow. */
export interface DelegationEnd {
  /** For rules; null unless it failed. */
  readonly why: FailureReason | null;
  /** What had arrived of a reply when it was cancelled; null when nothing had. */
  readonly partial_ref: Ref | null;
}

/** Tasks of a team and of all teams in it: they share one history. */
export interface TaskCount {
  given: number;
}

/** What an executor is given, and what it reports to. */
export interface ExecutionContext {
  readonly order: DelegationOrder;
  /** What the delegation goes on from; null at its beginning. */
  readonly carried: CarriedWork | null;
  /** Workflow id below which its phases get theirs. */
  readonly place: string;
  readonly escalations: EscalationRouter;
  readonly control: Control;
  readonly superior: Superior;
  readonly funds: Funds;
  /** Called when something that people see has changed. */
  readonly onStatus: (status: DelegationStatusView) => void;
  /** Continues as new. If null, the delegation stays one run however long it gets. */
  readonly carryOver: ((rest: CarriedWork) => Promise<never>) | null;
  /** What the members of a team spend from, for the teams in it. */
  readonly sharedFunds?: SharedFunds;
  /** Tasks that teams have given out in this workflow, for the teams in them. */
  readonly taskCount?: TaskCount;
  /** Called once, before the outcome is returned. */
  readonly onEnd?: (end: DelegationEnd) => void;
}

/** Carries out the delegation of the context's order. */
export type Execute = (
  executor: ExecutorOutline,
  context: ExecutionContext,
) => Promise<DelegationOutcome>;
