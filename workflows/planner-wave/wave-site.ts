import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { DelegationStatusView, DelegationView } from '../../contracts/views.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { ChildRelay, EscalationRouter } from '../shared/child-relay.ts';
import type { DelegationService, DispatchContext } from './delegation-service.ts';
import { delegationWorkflowId } from '../../core/ids.ts';
import type { Schedule } from '../../core/schedule/schedule.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import { describeWait } from '../../core/schedule/schedule.ts';
import { toPlanned } from '../shared/messages.ts';
import { definedOnly } from '../../core/json.ts';

/** Work that left its wave. */
interface MovedWork {
  /** Use until then. */
  readonly usage: Usage;
  /** Workflow run in which it goes on. */
  readonly run_id: string;
}

/** Facts about the wave that a delegation's start needs. */
export interface WaveSite {
  readonly plan: WavePlanOutline;
  readonly order: WaveOrder;
  readonly context: DispatchContext;
  readonly waveId: string;
  readonly byId: ReadonlyMap<string, DelegationOutline>;
  readonly outcomes: ReadonlyMap<string, DelegationOutcome>;
  readonly relay: ChildRelay;
  readonly escalations: EscalationRouter;
  readonly plannedAtMs: number;
  /** Delegations at work in this workflow, with the events reserved for each. */
  readonly inside: Map<string, number>;
  /** delegation_ids of those that have a workflow of their own. */
  readonly children: Set<string>;
  /**
   * delegation_ids of those that began in this workflow and left it, with what is known of it. Null for work that
   * can't begin anew: of waves without a designed plan.
   */
  readonly moved: Map<string, MovedWork | null>;
  readonly service: DelegationService;
  /** Shows a change of the view: a new status, or a new child. */
  readonly show: () => void;
}

/** Shows the delegations of a wave as the schedule sees them, each with where it works. */
export function viewDelegations(
  schedule: Schedule<DelegationOutline>,
  { waveId, children }: Pick<WaveSite, 'waveId' | 'children'>,
  statuses: ReadonlyMap<string, DelegationStatusView>,
): DelegationView[] {
  return schedule.entries.map((entry) => {
    const { delegation_id } = entry;
    const isChild = children.has(delegation_id);
    const { turn, verification } = (isChild ? null : statuses.get(delegation_id)) ?? {};
    return {
      ...toPlanned(entry),
      state: entry.state,
      reason: describeWait(entry, schedule),
      ...definedOnly({ turn, verification }),
      workflow_id: isChild ? delegationWorkflowId(waveId, delegation_id) : waveId,
    };
  });
}
