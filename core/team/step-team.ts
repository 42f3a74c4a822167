/**
 * Decides which task of a team starts when, and which ends without having started (seed 002, phases 2 and 4).
 *
 * Invariants:
 *   STM1. At most max_parallel tasks run at the same time, and only one when the team works in sequence.
 *   STM2. Tasks start in the order in which they were created, each as soon as all that it comes after have ended.
 *   STM3. A task does not start when one that it needs has no result, and its reason names that one.
 *   STM4. A task does not start while its member's breaker is open, and its reason says so; a trial is awaited.
 *   STM5. Nothing starts after the team was closed.
 *   STM6. An ended task keeps its end, whatever comes later.
 *   STM7. While a task is pending, another one is running.
 */
import type { TaskStatus } from '../../contracts/team-run.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { mayPass, noteFailure, noteSuccess, readBreaker } from './breaker.ts';
import { breakerOf, countAtWork, firstRestMs, isOver } from './team-state.ts';
import type { TeamState, TeamTask } from './team-state.ts';

export type TeamEvent =
  /** Tasks were created. */
  | { readonly type: 'given' }
  /** A task gets another attempt. */
  | { readonly type: 'retried'; readonly delegation_id: string }
  | {
      readonly type: 'ended';
      readonly delegation_id: string;
      readonly status: TaskStatus;
      readonly reason: string;
      readonly has_output: boolean;
      /** Milliseconds of work since it began. */
      readonly worked_ms: number;
    }
  /** The team's time is over, or it is stopped. Running tasks end by themselves. */
  | { readonly type: 'closed'; readonly reason: string };

type TaskEnd = Extract<TeamEvent, { type: 'ended' }>;

export interface TeamStep {
  readonly state: TeamState;
  /** delegation_ids of tasks to start now, in order. */
  readonly start: readonly string[];
}

/** @param nowMs Milliseconds of work. */
export function stepTeam(state: TeamState, event: TeamEvent, nowMs: number): TeamStep {
  switch (event.type) {
    case 'given':
      return dispatch(state, nowMs);
    case 'retried':
      return {
        state: change(state, event.delegation_id, (task) =>
          task.state === 'running' ? { ...task, attempts: task.attempts + 1 } : task,
        ),
        start: [],
      };
    case 'ended':
      return takeEnd(state, event, nowMs);
    case 'closed':
      return {
        state: {
          ...state,
          tasks: state.tasks.map((task) =>
            task.state === 'pending' ? notStarted(task, event.reason) : task,
          ),
        },
        start: [],
      };
  }
}

/** Returns true when every task has ended. */
export function isTeamIdle({ tasks }: TeamState): boolean {
  return tasks.every(isOver);
}

function takeEnd(state: TeamState, end: TaskEnd, nowMs: number): TeamStep {
  const { delegation_id, status, reason, has_output } = end;
  const task = state.tasks.find((one) => one.delegation_id === delegation_id);
  if (task?.state !== 'running') return { state, start: [] };
  const ended = change(state, delegation_id, (one) => ({
    ...one,
    state: status,
    reason: cutText(reason, engineLimits.teamReasonCharsMax),
    has_output,
  }));
  return dispatch(noteEnd(ended, task.member_id, end, nowMs), nowMs);
}

function noteEnd(
  state: TeamState,
  memberId: string,
  { status, worked_ms }: TaskEnd,
  nowMs: number,
): TeamState {
  const isFailure = status === 'failed' || status === 'timed_out';
  // A stopped task has neither failed nor succeeded.
  if (!isFailure && status !== 'completed') return state;
  const breaker = isFailure
    ? noteFailure(breakerOf(state, memberId), nowMs - worked_ms, nowMs)
    : noteSuccess(firstRestMs(state.setup));
  return { ...state, breakers: { ...state.breakers, [memberId]: breaker } };
}

/** Ends tasks that can't start any more, then starts those that can. */
function dispatch(before: TeamState, nowMs: number): TeamStep {
  const state = endHopeless(before, nowMs);
  const { allow_parallel, max_parallel } = state.setup;
  const cap = allow_parallel ? max_parallel : 1;
  const start: string[] = [];
  const next = state.tasks.reduce<TeamState>((current, task) => {
    const atWork = current.tasks.filter((one) => one.state === 'running').length;
    if (atWork >= cap || !mayStart(current, task, nowMs)) return current;
    start.push(task.delegation_id);
    return change(current, task.delegation_id, (one) => ({
      ...one,
      state: 'running',
      attempts: 1,
    }));
  }, state);
  return { state: next, start };
}

function mayStart(state: TeamState, task: TeamTask, nowMs: number): boolean {
  if (task.state !== 'pending' || !task.after.every((id) => isOverIn(state, id))) return false;
  const { member_id } = task;
  return mayPass(breakerOf(state, member_id), nowMs, countAtWork(state, member_id));
}

/** Repeats, because the end of one task may end others that need it. */
function endHopeless(state: TeamState, nowMs: number): TeamState {
  const found = state.tasks.flatMap((task) => {
    const why = task.state === 'pending' ? whyHopeless(state, task, nowMs) : null;
    return why === null ? [] : [notStarted(task, why)];
  });
  const [first] = found;
  if (first === undefined) return state;
  return endHopeless(
    change(state, first.delegation_id, () => first),
    nowMs,
  );
}

function whyHopeless(state: TeamState, task: TeamTask, nowMs: number): string | null {
  const missing = state.tasks.filter(
    (other) => task.needs.includes(other.delegation_id) && isOver(other) && !other.has_output,
  );
  if (missing.length > 0) {
    return `it needs ${listNames(missing.map(({ name }) => name))}, and there is no such result`;
  }
  const isNext = task.after.every((id) => isOverIn(state, id));
  const breaker = breakerOf(state, task.member_id);
  if (!isNext || readBreaker(breaker, nowMs) !== 'open') return null;
  return `"${task.member_id}" failed ${breaker.failures} times in a row and gets no tasks for a while`;
}

function isOverIn({ tasks }: TeamState, delegationId: string): boolean {
  const task = tasks.find((one) => one.delegation_id === delegationId);
  return task === undefined || isOver(task);
}

function notStarted(task: TeamTask, reason: string): TeamTask {
  return {
    ...task,
    state: 'not_started',
    reason: cutText(reason, engineLimits.teamReasonCharsMax),
  };
}

function change(
  state: TeamState,
  delegationId: string,
  how: (task: TeamTask) => TeamTask,
): TeamState {
  return {
    ...state,
    tasks: state.tasks.map((task) => (task.delegation_id === delegationId ? how(task) : task)),
  };
}
