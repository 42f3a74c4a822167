import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import type { ChildRelay } from '../shared/child-relay.ts';
import type { EscalationRouter } from '../shared/escalation-router.ts';
import type { DelegationService, DispatchContext } from './delegation-service.ts';

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
  /** delegation_ids of those that began in this workflow and left it. */
  readonly moved: Set<string>;
  readonly service: DelegationService;
  /** Shows a change of the view: a new status, or a new child. */
  readonly show: () => void;
}
