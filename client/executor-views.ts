import type { PlannedExecutor } from '../contracts/executor.ts';
import type { ExecutorView, TeamView, TriadPhaseView } from '../contracts/views.ts';

/** Reads where a triad is; null for another executor, and before the triad begins. */
export function triadViewOf(executor: ExecutorView | undefined): TriadPhaseView | null {
  return executor?.kind === 'triad' ? executor.view : null;
}

/** Reads where a team is; null for another executor, and before the team begins. */
export function teamViewOf(executor: ExecutorView | undefined): TeamView | null {
  return executor?.kind === 'team' ? executor.view : null;
}

/** Leaves out what the executor does. */
export function withoutView(executor: ExecutorView): PlannedExecutor {
  if (executor.kind === 'agent') return executor;
  const { view: _view, ...planned } = executor;
  return planned;
}
