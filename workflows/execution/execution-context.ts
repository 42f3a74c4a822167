import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TaskRecord, TeamTerms } from '../../contracts/team-run.ts';
import type { VerificationFeedback } from '../../contracts/verification.ts';
import type { DelegationStatusView } from '../../contracts/views.ts';
import type { BudgetNode } from '../../core/budget/budget-node.ts';
import type { SessionState } from '../../core/notes/session.ts';
import type { KnownEffect } from '../../core/output/check-evidence.ts';
import type { TeamState } from '../../core/team/team-state.ts';
import type { FailureReason } from '../../core/turns/turns-state.ts';
import type { VerificationState } from '../../core/verification/step-verification.ts';
import type { Control } from '../shared/control.ts';
import type { Conversation } from '../shared/conversation.ts';
import type { Budget } from '../shared/budget.ts';
import type { SharedBudget } from '../shared/share-budget.ts';
import type { Superior } from '../shared/superior.ts';
import type { SessionHolder } from './session-keeper.ts';
import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { DelegationOutline, ExecutorOutline } from '../../contracts/delegation.ts';
import { withoutWork } from '../../core/executor.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { listWritten } from '../../core/effects/step-effect.ts';
import type { EscalationRouter } from '../shared/child-relay.ts';

/** State of a delegation over continue-as-new, whoever carries it out. */
interface CarriedState {
  readonly version: 1;
  readonly conversation: Conversation;
  /** Escalations so far; they number the next. */
  readonly escalations: number;
  /** Null without a budget. */
  readonly budget: BudgetNode | null;
  /** Same as in DelegationOutcome, with those of a team's members. */
  readonly loaded_details: readonly string[];
  /** Attempted changes outside of the run. */
  readonly effects: readonly KnownEffect[];
  /** Absent where no verification is demanded. */
  readonly verification?: VerificationState;
}

/** State of an agent's delegation, at a turn boundary. */
export interface CarriedDelegation extends CarriedState {
  readonly kind: 'agent';
  /** Absent for an agent that keeps no notes. */
  readonly session?: SessionState;
}

/** State of a team, before a call of its leader: no member is at work then. */
export interface CarriedTeam extends CarriedState {
  readonly kind: 'team';
  readonly state: TeamState;
  /** With the message as middlewares left it. */
  readonly record_ref: Ref;
  readonly plan_ref: Ref;
  readonly message_ref: Ref;
  /** Records of tasks that are over. */
  readonly records: readonly TaskRecord[];
  readonly worked_ms: number;
  readonly notes: readonly string[];
}

/** State that a delegation continues itself with. */
export type CarriedWork = CarriedDelegation | CarriedTeam;

/** Input of a delegation that a wave starts, and of one that continues in another history. */
export interface OrderedDelegation {
  readonly order: DelegationOrder;
  readonly carried?: CarriedWork;
}

/** End of a delegation, for the team that gave it out in the same workflow. */
export interface DelegationEnd {
  /** Reason for rules; null unless it failed. */
  readonly why: FailureReason | null;
  /** Text of a reply that had arrived when it was cancelled; null if none had. */
  readonly partial_ref: Ref | null;
  /** Changes that it tried; those of its next attempt are numbered after them. */
  readonly effects: readonly KnownEffect[];
  readonly escalations: number;
  /** Absent unless a team did it. */
  readonly team?: TeamTerms;
}

/** Tasks of a team and of all teams in it: they share one history. */
export interface TaskCount {
  given: number;
}

/** Continues a delegation in another history, where this one gets too long. */
interface CarryOver {
  /** Returns true when the delegation must continue there before its next call. */
  isDue(): boolean;
  /** @returns the outcome, if this workflow waits for it; a workflow that continues as new never gets there. */
  take(rest: CarriedWork): Promise<DelegationOutcome>;
}

/** Rest of earlier attempts at a delegation, for an agent that begins anew. */
interface Redo extends Pick<DelegationEnd, 'effects' | 'escalations'> {
  readonly feedback: VerificationFeedback;
}

/** Everything that an executor works with. */
export interface ExecutionContext {
  readonly order: DelegationOrder;
  /** State from which the delegation continues; null at its beginning. */
  readonly carried: CarriedWork | null;
  /** Rest of earlier attempts, for one that begins anew after a failed verification. Absent for the first. */
  readonly redo?: Redo;
  /** Workflow id below which its phases get theirs. */
  readonly place: string;
  readonly escalations: EscalationRouter;
  readonly control: Control;
  readonly superior: Superior;
  readonly budget: Budget;
  /** Called when something that people see has changed. */
  readonly onStatus: (status: DelegationStatusView) => void;
  /** Way to a history of its own. If null, the delegation stays in this one however long it gets. */
  readonly carryOver: CarryOver | null;
  /** Budget that the members of a team share, for the teams in it. */
  readonly sharedBudget?: SharedBudget;
  /** Tasks that teams have given out in this workflow, for the teams in them. */
  readonly taskCount?: TaskCount;
  /** Session of the delegation, for all attempts at it. Absent: there is one attempt. */
  readonly session?: SessionHolder;
  /** Called once, before the outcome is returned. */
  readonly onEnd?: (end: DelegationEnd) => void;
}

/** Carries out the delegation of the context's order. */
export type Execute = (
  executor: ExecutorOutline,
  context: ExecutionContext,
) => Promise<DelegationOutcome>;

/** Work of a delegation, independent of its result. */
type WorkDone = Pick<DelegationOutcome, 'loaded_details' | 'turns' | 'usage'> & {
  /** Everything that it tried to change outside. */
  readonly effects: readonly KnownEffect[];
};

/** Builds the outcome of a delegation whose output keeps the rules. Triads and teams add what they say of their work. */
export function outcomeOfOutput(
  { delegation_id, agent_id, title, produces, replaces, executor }: DelegationOutline,
  { effects, ...work }: WorkDone,
  { status, coverage, output_ref }: AgentOutputOutline,
): DelegationOutcome {
  const files = listWritten(effects);
  const unmet = coverage.criteria_unmet;
  const isCompleted = status === 'completed';
  return {
    delegation_id,
    agent_id,
    title,
    produces,
    ...(replaces !== undefined && { replaces }),
    ...(files.length > 0 && { files }),
    ...work,
    status: isCompleted ? 'completed' : 'failed',
    reason: isCompleted ? '' : (unmet[0]?.reason ?? 'the agent reported failure'),
    criteria_met: coverage.criteria_met.map((met) => met.criterion_id),
    criteria_unmet: unmet.map(({ criterion_id }) => criterion_id),
    output_ref,
    executor: withoutWork(executor.kind),
  };
}

/** Builds the outcome of a delegation that ended without an output: none of its criteria is met. */
export function outcomeWithout(
  { delegation_id, agent_id, title, produces, criterion_ids, executor }: DelegationOutline,
  { effects: _effects, ...work }: WorkDone,
  end: Pick<DelegationOutcome, 'status' | 'reason'>,
): DelegationOutcome {
  return {
    delegation_id,
    agent_id,
    title,
    produces,
    ...work,
    ...end,
    criteria_met: [],
    criteria_unmet: criterion_ids,
    output_ref: null,
    executor: withoutWork(executor.kind),
  };
}

/** Builds the outcome of a delegation that made no call, or of which no more is known. */
export function outcomeUnbegun(
  delegation: DelegationOutline,
  status: DelegationOutcome['status'],
  reason: string,
): DelegationOutcome {
  const nothing = { loaded_details: [], turns: 0, usage: noUsage, effects: [] };
  return outcomeWithout(delegation, nothing, { status, reason });
}
