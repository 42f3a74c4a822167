/**
 * Facts about a delegation's executor at each stage: planned, at work, done, and for the planner's decision.
 */
import type {
  Delegation,
  WrittenDelegation,
  Executor,
  ExecutorKind,
  ExecutorOutline,
  PlannedExecutor,
} from '../contracts/delegation.ts';
import { thisTeamId } from '../contracts/names.ts';
import type { ExecutorEnd, ExecutorOutcome } from '../contracts/team-run.ts';
import type { ExecutorView, TeamView, TriadPhaseView } from '../contracts/views.ts';
import type { TriadEnd, TriadOutcome } from '../contracts/triad-run.ts';

/** Reads the name that people gave a team; null for one that was put together for one delegation, or typed without a name. */
export function teamName({ team_id }: { readonly team_id?: string | undefined }): string | null {
  return team_id === undefined || team_id === thisTeamId ? null : team_id;
}

/** Keeps of an executor what people see before it works. */
export function planExecutor(executor: Executor | ExecutorOutline): PlannedExecutor {
  switch (executor.kind) {
    case 'agent':
      return { kind: 'agent' };
    case 'triad':
      return { kind: 'triad', type: executor.type };
    case 'team':
      return { kind: 'team', team_id: teamName(executor) };
  }
}

/** Gives a delegation as a planner writes it: the reverse of how it was read. */
export function writeDelegation({
  executor,
  verification: _verification,
  ...rest
}: Delegation): WrittenDelegation {
  const { kind, ...party } = executor;
  return kind === 'agent' ? rest : { ...rest, [kind]: party };
}

/** Shows an executor that has not begun. */
export function viewUnbegun(executor: PlannedExecutor): ExecutorView {
  return executor.kind === 'agent' ? executor : { ...executor, view: null };
}

/** Says of an executor's work that there is none, or that it was lost. */
export function withoutWork(kind: ExecutorKind): ExecutorOutcome {
  return kind === 'agent' ? { kind } : { kind, work: null };
}

/** Keeps of an outcome's executor what the planner's decision has to know; null when there is nothing. */
export function readEnd(executor: ExecutorOutcome): ExecutorEnd | null {
  if (executor.kind === 'agent' || executor.work === null) return null;
  if (executor.kind === 'triad') return { kind: 'triad', ...readTriadEnd(executor.work) };
  const { team_id, tasks, partial, report_ref } = executor.work;
  return { kind: 'team', team_id, tasks, partial, report_ref };
}

/** Every dispute is found again in the last report. */
function readTriadEnd({ type, phases, dissent, failure }: TriadOutcome): TriadEnd {
  const last = phases.at(-1);
  const dissent_ref = dissent.length === 0 || last === undefined ? null : last.report_ref;
  return { type, dissent_ref, failure };
}

/** Returns true for a triad or a team that ended without an output of its own: the engine has written what stands for it. */
export function lacksOutput(executor: ExecutorOutcome): boolean {
  if (executor.kind === 'agent' || executor.work === null) return false;
  if (executor.kind === 'team') return executor.work.unanswered === true;
  const last = executor.work.phases.at(-1);
  return last?.phase !== 'execute' || last.status !== 'done';
}

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
