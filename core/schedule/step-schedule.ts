/**
 * Decides which job starts, resumes or is skipped, and when: a delegation of a wave, or a task of a team.
 *
 * Invariants:
 *   SC1. Never more than `max_parallel` jobs run at the same time.
 *   SC2. A job starts in the step in which its gate opens and a slot is free, not later.
 *   SC3. A job starts at most once, and only when its gate is open.
 *   SC4. Resumed jobs go before new ones; within each group the order of the entries holds.
 *   SC5. A job that waits for answers holds no slot.
 *   SC6. While paused, nothing starts or resumes; once stopped, nothing ever does, and pending jobs are stopped.
 *   SC7. A job that can't start any more is skipped with the reason, and so are its dependents.
 *   SC8. An event that does not fit the state changes nothing and commands nothing.
 *   SC9. When every started job has ended, an open schedule is done: nothing waits for ever, not even in a cycle.
 *   SC10. An ended job keeps its end, whatever comes later.
 *   SC11. A job does not start while its member rests: it is skipped, and the reason says so. A trial is awaited.
 *   SC12. After `same_failures_max` failures for one reason, and after a halt, all pending jobs are skipped.
 */
import type { TaskStatus } from '../../contracts/team-run.ts';
import type { DelegationState } from '../../contracts/views.ts';
import { findRepeatedFailure, noteEnd, readBreaker } from './failures.ts';
import {
  breakerOf,
  countRunning,
  describeRest,
  hasEnded,
  mayTake,
  decideGate,
} from './schedule.ts';
import type { Entry, Job, Progress, Schedule, ScheduleRules } from './schedule.ts';

export type ScheduleEvent<J extends Job = Job> =
  /** More jobs follow those that are there. */
  | { readonly type: 'add'; readonly jobs: readonly J[] }
  /** The job asked a question and waits; its slot is free. */
  | {
      readonly type: 'asked';
      readonly delegation_id: string;
      /** True when no answers wait for the job to resume: a question of it was withdrawn. Default false. */
      readonly unanswered?: boolean;
    }
  /** The answers have arrived, or are no longer needed. */
  | { readonly type: 'answered'; readonly delegation_id: string }
  /** A failed job gets another attempt in its slot. */
  | { readonly type: 'retried'; readonly delegation_id: string }
  | {
      readonly type: 'ended';
      readonly delegation_id: string;
      readonly status: TaskStatus;
      readonly reason: string;
      readonly leaves_unmet: boolean;
    }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  /** None of the pending jobs starts; running ones go on to their end. */
  | { readonly type: 'halt'; readonly reason: string }
  | { readonly type: 'stop' };

export type ScheduleCommand =
  | { readonly type: 'start'; readonly delegation_id: string }
  | { readonly type: 'resume'; readonly delegation_id: string }
  | { readonly type: 'skip'; readonly delegation_id: string; readonly reason: string };

export interface ScheduleStep<J extends Job = Job> {
  readonly schedule: Schedule<J>;
  readonly commands: readonly ScheduleCommand[];
}

/** @param nowMs Milliseconds of work. */
export function openSchedule<J extends Job>(
  jobs: readonly J[],
  rules: ScheduleRules & { readonly paused: boolean },
  nowMs: number,
): ScheduleStep<J> {
  const { paused, max_parallel, ...rest } = rules;
  return settle(
    {
      ...rest,
      mode: paused ? 'paused' : 'open',
      entries: jobs.map(enter),
      // Below 1 nothing would ever start.
      max_parallel: Math.max(1, max_parallel),
      breakers: {},
    },
    nowMs,
  );
}

/** @param nowMs Milliseconds of work. */
export function stepSchedule<J extends Job>(
  before: Schedule<J>,
  event: ScheduleEvent<J>,
  nowMs: number,
): ScheduleStep<J> {
  const next = applyEvent(before, event, nowMs);
  const haltedBy = findHalt(before, next, event);
  const step = skip(next, () => haltedBy);
  return step.schedule === before ? step : follow(step, (schedule) => settle(schedule, nowMs));
}

/** @returns the same object when the event does not fit the state. */
function applyEvent<J extends Job>(
  schedule: Schedule<J>,
  event: ScheduleEvent<J>,
  nowMs: number,
): Schedule<J> {
  switch (event.type) {
    case 'add':
      return addJobs(schedule, event.jobs);
    case 'asked':
      return change(
        schedule,
        event.delegation_id,
        event.unanswered === true ? ['running', 'resuming'] : ['running'],
        { state: 'waiting' },
      );
    case 'answered':
      return change(schedule, event.delegation_id, ['waiting'], { state: 'resuming' });
    case 'retried':
      return retry(schedule, event.delegation_id);
    case 'ended':
      return end(schedule, event, nowMs);
    case 'pause':
      return enterMode(schedule, 'paused', ['open']);
    case 'resume':
      return enterMode(schedule, 'open', ['paused']);
    case 'stop':
      return enterMode(schedule, 'stopping', ['open', 'paused']);
    case 'halt':
      return schedule;
  }
}

function enterMode<J extends Job>(
  schedule: Schedule<J>,
  mode: Schedule['mode'],
  from: readonly Schedule['mode'][],
): Schedule<J> {
  return from.includes(schedule.mode) ? { ...schedule, mode } : schedule;
}

function enter<J extends Job>(job: J): Entry<J> {
  return { ...job, state: 'pending', reason: '', leaves_unmet: false, attempts: 0, began_ms: 0 };
}

function addJobs<J extends Job>(schedule: Schedule<J>, jobs: readonly J[]): Schedule<J> {
  const isNew = ({ delegation_id }: J): boolean => find(schedule, delegation_id) === undefined;
  const added = jobs.filter(isNew).map(enter);
  return added.length === 0 ? schedule : { ...schedule, entries: [...schedule.entries, ...added] };
}

function find<J extends Job>({ entries }: Schedule<J>, delegationId: string): Entry<J> | undefined {
  return entries.find(({ delegation_id }) => delegation_id === delegationId);
}

/** @returns the same object when the job is in none of the states. */
function change<J extends Job>(
  schedule: Schedule<J>,
  delegationId: string,
  from: readonly DelegationState[],
  progress: Partial<Progress>,
): Schedule<J> {
  const changed = find(schedule, delegationId);
  if (changed === undefined || !from.includes(changed.state)) return schedule;
  return {
    ...schedule,
    entries: schedule.entries.map((entry) =>
      entry === changed ? { ...entry, ...progress } : entry,
    ),
  };
}

function retry<J extends Job>(schedule: Schedule<J>, delegationId: string): Schedule<J> {
  const attempts = (find(schedule, delegationId)?.attempts ?? 0) + 1;
  return change(schedule, delegationId, ['running'], { attempts });
}

/** Ends a job that was started, and counts its end for its member. */
function end<J extends Job>(
  before: Schedule<J>,
  event: Extract<ScheduleEvent, { type: 'ended' }>,
  nowMs: number,
): Schedule<J> {
  const { delegation_id, status, reason, leaves_unmet } = event;
  const started = ['running', 'waiting', 'resuming'] as const;
  const progress = { state: status, reason, leaves_unmet };
  const schedule = change(before, delegation_id, started, progress);
  const { member_id, began_ms = 0 } = find(schedule, delegation_id) ?? {};
  const { first_rest_ms, breakers } = schedule;
  if (schedule === before || member_id === undefined || first_rest_ms === undefined)
    return schedule;
  const breaker = breakerOf(schedule, member_id);
  const ended = { status, began_ms, ended_ms: nowMs };
  return {
    ...schedule,
    breakers: { ...breakers, [member_id]: noteEnd(breaker, ended, first_rest_ms) },
  };
}

/** @returns why the event ends the rest, or null. */
function findHalt(before: Schedule, next: Schedule, event: ScheduleEvent): string | null {
  if (event.type === 'halt') return event.reason;
  const { entries, same_failures_max } = next;
  if (event.type !== 'ended' || next === before || same_failures_max === undefined) return null;
  const ended = find(next, event.delegation_id);
  return ended === undefined ? null : findRepeatedFailure(ended, entries, same_failures_max);
}

/** Ends jobs that can't start any more, then fills the free slots. */
function settle<J extends Job>(schedule: Schedule<J>, nowMs: number): ScheduleStep<J> {
  if (schedule.mode === 'stopping') return stopPending(schedule);
  const skipped = skipImpossible(schedule, nowMs);
  return schedule.mode === 'paused' ? skipped : follow(skipped, (next) => fillSlots(next, nowMs));
}

function follow<J extends Job>(
  { schedule, commands }: ScheduleStep<J>,
  next: (schedule: Schedule<J>) => ScheduleStep<J>,
): ScheduleStep<J> {
  const step = next(schedule);
  return { schedule: step.schedule, commands: [...commands, ...step.commands] };
}

function stopPending<J extends Job>(schedule: Schedule<J>): ScheduleStep<J> {
  const stopped = { state: 'stopped', reason: 'stopped before it began' } as const;
  const entries = schedule.entries.map((entry) =>
    entry.state === 'pending' ? { ...entry, ...stopped } : entry,
  );
  return { schedule: { ...schedule, entries }, commands: [] };
}

/** Skips pending jobs for which `why` returns a reason. @returns the same schedule when there are none. */
function skip<J extends Job>(
  schedule: Schedule<J>,
  why: (entry: Entry<J>) => string | null,
): ScheduleStep<J> {
  const commands: ScheduleCommand[] = [];
  const entries = schedule.entries.map((entry): Entry<J> => {
    const reason = entry.state === 'pending' ? why(entry) : null;
    if (reason === null) return entry;
    commands.push({ type: 'skip', delegation_id: entry.delegation_id, reason });
    return { ...entry, state: 'skipped', reason };
  });
  return { schedule: commands.length === 0 ? schedule : { ...schedule, entries }, commands };
}

/** Repeats until nothing changes, because each skip can make others impossible. */
function skipImpossible<J extends Job>(schedule: Schedule<J>, nowMs: number): ScheduleStep<J> {
  const step = skip(schedule, (entry) => whyImpossible(entry, schedule, nowMs));
  if (step.schedule !== schedule) return follow(step, (next) => skipImpossible(next, nowMs));
  // A plan without cycles never gets stuck; one with a cycle must not wait for ever.
  return isStuck(schedule) ? skip(schedule, () => 'its dependencies form a cycle') : step;
}

function whyImpossible(entry: Entry, schedule: Schedule, nowMs: number): string | null {
  const gate = decideGate(entry, schedule);
  if (gate.type === 'impossible') return gate.reason;
  const { member_id } = entry;
  if (gate.type === 'closed' || member_id === undefined) return null;
  const isResting = readBreaker(breakerOf(schedule, member_id), nowMs) === 'open';
  return isResting ? describeRest(schedule, member_id) : null;
}

/** Returns true when jobs are pending, and nothing is under way that could open a gate. */
function isStuck(schedule: Schedule): boolean {
  return schedule.entries.every((entry) =>
    entry.state === 'pending'
      ? decideGate(entry, schedule).type === 'closed'
      : hasEnded(entry.state),
  );
}

function fillSlots<J extends Job>(before: Schedule<J>, nowMs: number): ScheduleStep<J> {
  const inState = (state: DelegationState) =>
    before.entries.filter((entry) => entry.state === state);
  const begun = { state: 'running', attempts: 1, began_ms: nowMs } as const;
  const commands: ScheduleCommand[] = [];
  let schedule = before;
  for (const entry of [...inState('resuming'), ...inState('pending')]) {
    const { delegation_id, state } = entry;
    if (countRunning(schedule) >= schedule.max_parallel) break;
    if (state === 'resuming') {
      commands.push({ type: 'resume', delegation_id });
      schedule = change(schedule, delegation_id, ['resuming'], { state: 'running' });
    } else if (mayStart(entry, schedule, nowMs)) {
      commands.push({ type: 'start', delegation_id });
      schedule = change(schedule, delegation_id, ['pending'], begun);
    }
  }
  return { schedule, commands };
}

function mayStart(entry: Entry, schedule: Schedule, nowMs: number): boolean {
  const { member_id } = entry;
  const isOpen = decideGate(entry, schedule).type === 'open';
  return isOpen && (member_id === undefined || mayTake(schedule, member_id, nowMs));
}
