import type { CarriedBudget } from '../../contracts/budget.ts';
import type { DesignProgress } from '../../contracts/design-run.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import type { RootHost } from './root-host.ts';
import { openDesign } from './root-state.ts';

/** Shows and records the progress of a design. */
export function showDesign(host: RootHost, progress: DesignProgress): void {
  const { state } = host;
  const { materials, plan_refs, usage } = progress;
  const design = state.design ?? openDesign();
  state.design = {
    ...design,
    materials: [...design.materials, ...materials],
    plan_refs: [...design.plan_refs, ...plan_refs],
    usage,
  };
  record(host, progress);
}

/** End of a design; `designing`: of an attempt that was lost. */
export type DesignEnd = Omit<DesignProgress, 'materials' | 'plan_refs'> & {
  /** Budget for the rest of the run. */
  readonly budget: CarriedBudget | null;
};

/** Adds and records the end of a design, or of an attempt that was lost. */
export function endDesign(host: RootHost, end: DesignEnd): void {
  const { state } = host;
  const { status, findings, approved_by, usage, budget } = end;
  state.usage = addUsage(state.usage, usage);
  state.budget = budget;
  record(host, { status, findings, approved_by, usage, materials: [], plan_refs: [] });
  const { design } = state;
  if (design === null) return;
  const lost = status === 'designing' ? addUsage(design.lost, usage) : design.lost;
  state.design = { ...design, usage: noUsage, lost };
  host.refresh();
}

/** The record has the use of all attempts. */
function record(host: RootHost, progress: DesignProgress): void {
  const usage = addUsage(progress.usage, host.state.design?.lost ?? noUsage);
  host.record.add({ type: 'designed', progress: { ...progress, usage } });
  host.refresh();
}
