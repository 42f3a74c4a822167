import type { DelegationOutline, ExecutorOutline } from '../../contracts/delegation.ts';
import type { DelegationState } from '../../contracts/views.ts';
import { closedBreaker, mayPass } from './failures.ts';
import type { Breaker } from './failures.ts';
import { defaultTeam, engineLimits } from '../limits.ts';

/** Part of a delegation or of a team's task that decides when it runs. */
export interface Job extends Pick<DelegationOutline, 'needs'> {
  readonly delegation_id: string;
  /** Its name in reasons. If undefined: its delegation_id. */
  readonly name?: string;
  /** Inputs that must be known, or produced by a completed job. */
  readonly required_inputs?: readonly string[];
  readonly produces?: readonly string[];
  /** delegation_ids that must have completed before it starts. */
  readonly depends_on: readonly string[];
  /** delegation_ids that must have ended before it starts, whatever their end. */
  readonly after?: readonly string[];
  /** Member that does it, whose breaker counts its failures. If undefined: no breaker does. */
  readonly member_id?: string;
}

export type Entry<J extends Job = Job> = J & Progress;

export interface Progress {
  readonly state: DelegationState;
  /** Cause of its end. Empty until then, and when it completed. */
  readonly reason: string;
  /** True when it completed with a criterion unmet. */
  readonly leaves_unmet: boolean;
  /** Number of attempts that began. */
  readonly attempts: number;
  /** Milliseconds of work at which it began; 0 until then. */
  readonly began_ms: number;
}

export interface ScheduleRules {
  /** Number of jobs that may run at the same time. */
  readonly max_parallel: number;
  /** Inputs that exist without any job. If undefined: none. */
  readonly known_inputs?: readonly string[];
  /** Number of failures for the same reason at which the rest is skipped. If undefined: nothing is. */
  readonly same_failures_max?: number;
  /** Milliseconds of a member's first rest. If undefined: members do not rest. */
  readonly first_rest_ms?: number;
}

/** State of a schedule. It is plain data, so that it can be carried over continue-as-new. */
export interface Schedule<J extends Job = Job> extends ScheduleRules {
  /** `paused`: nothing starts or resumes for now. `stopping`: nothing ever does again. */
  readonly mode: 'open' | 'paused' | 'stopping';
  /** Listed in the order of the plan, or of their creation. */
  readonly entries: readonly Entry<J>[];
  /** Keyed by member_id; a missing one is closed. */
  readonly breakers: Readonly<Record<string, Breaker>>;
}

const unended: readonly DelegationState[] = ['pending', 'running', 'waiting', 'resuming'];

export function hasEnded(state: DelegationState): boolean {
  return !unended.includes(state);
}

export function isScheduleDone({ entries }: Schedule): boolean {
  return entries.every(({ state }) => hasEnded(state));
}

export function isRunning({ entries }: Schedule, delegationId: string): boolean {
  return entries.some((one) => one.state === 'running' && one.delegation_id === delegationId);
}

export function countRunning({ entries }: Pick<Schedule, 'entries'>): number {
  return entries.filter(({ state }) => state === 'running').length;
}

export function breakerOf({ breakers }: Schedule, memberId: string): Breaker {
  // Members may have any name, such as "constructor".
  return Object.hasOwn(breakers, memberId) ? (breakers[memberId] ?? closedBreaker) : closedBreaker;
}

/** Returns true when the breaker lets a task of the member start. @param nowMs Milliseconds of work. */
export function mayTake(schedule: Schedule, memberId: string, nowMs: number): boolean {
  const own = schedule.entries.filter(({ member_id }) => member_id === memberId);
  return mayPass(breakerOf(schedule, memberId), nowMs, countRunning({ entries: own }));
}

/** Tells why a member gets no tasks. */
export function describeRest(schedule: Schedule, memberId: string): string {
  const { failures } = breakerOf(schedule, memberId);
  return `"${memberId}" failed ${failures} times in a row and gets no tasks for a while`;
}

/**
 * Decides whether a delegation works inside its wave's workflow or in a workflow of its own, by the length of the wave's
 * history.
 *
 * Invariants:
 *   HI1. A delegation begins inside only if `inline_events` holds the history, what is reserved for those inside, and
 *        what it may add itself before it can leave.
 *   HI2. No delegation begins or stays inside when the server suggests to end the history, which it does by bytes too.
 */

/** History of a wave, and the room in it. */
export interface WaveHistory {
  readonly events: number;
  /** True when the server suggests to continue as new. */
  readonly is_long: boolean;
  /** Defined in RunLimits. */
  readonly inline_events: number;
}

/** Part of a delegation that decides how many events it may add. */
type Reserving = Pick<DelegationOutline, 'executor' | 'verification'>;

/** @param reserved Events of the delegations inside, each as `reserveEvents` returns it. */
export function fitsInside(
  delegation: Reserving,
  reserved: readonly number[],
  history: WaveHistory,
): boolean {
  const needed = [...reserved, reserveEvents(delegation)].reduce((sum, events) => sum + events, 0);
  return !history.is_long && history.events + needed <= history.inline_events;
}

/** Returns true when a delegation inside has to leave before its next call. */
export function mustLeave({ events, is_long, inline_events }: WaveHistory): boolean {
  return is_long || events >= inline_events;
}

/** Returns the events that a delegation may add before it can leave. */
export function reserveEvents({ executor, verification }: Reserving): number {
  const judging = verification?.triad_agents === undefined ? 0 : engineLimits.triadEvents;
  return judging + reserveWork(executor);
}

function reserveWork(executor: ExecutorOutline): number {
  const { turnEvents, triadEvents, taskEvents } = engineLimits;
  switch (executor.kind) {
    case 'agent':
      return turnEvents;
    case 'triad':
      return triadEvents;
    case 'team':
      return turnEvents + (executor.max_delegations ?? defaultTeam.max_delegations) * taskEvents;
  }
}

/**
 * Decides whether a job may start, and tells what it waits for (seed 004 §3.1).
 *
 * Invariants:
 *   G1. Open means: every dependency has completed, everything that it comes after has ended, and every required input is
 *       known or produced by a completed job. Criteria that an output leaves unmet withhold it only from a job with
 *       `needs: "met"`.
 *   G2. A name in `provided_inputs` counts only when the run knows it.
 *   G3. When a dependency, or every producer of an input, has ended without what is needed, the start is impossible,
 *       and the reason names it.
 *   G4. Closed names each missing thing, its producer, and the producer's state.
 *   G5. Time plays no part: the same schedule gives the same gate for ever.
 */

type Gate =
  | { readonly type: 'open' }
  /** Lines such as `input "x" from d1 (running)`. */
  | { readonly type: 'closed'; readonly waiting_for: readonly string[] }
  | { readonly type: 'impossible'; readonly reason: string };

type Finding =
  | { readonly type: 'met' }
  /** `from`: delegation_ids of the jobs that can still bring it. */
  | {
      readonly type: 'awaited';
      readonly what: 'input' | 'job';
      readonly line: string;
      readonly from: readonly string[];
    }
  | { readonly type: 'lost'; readonly reason: string };

type World = Pick<Schedule, 'entries' | 'known_inputs'>;

export function decideGate(job: Job, world: World): Gate {
  const { required_inputs = [], depends_on, after = [] } = job;
  const findings = [
    ...[...new Set(required_inputs)].map((input) => findInput(input, job, world)),
    ...[...new Set(depends_on)].map((id) => findDependency(id, job, world)),
    ...after.filter((id) => !depends_on.includes(id)).map((id) => findPredecessor(id, world)),
  ];
  const lost = findings.filter((f) => f.type === 'lost').map((f) => f.reason);
  if (lost.length > 0) return { type: 'impossible', reason: joinReasons(lost) };
  const awaited = findings.filter((f) => f.type === 'awaited');
  if (awaited.length === 0) return { type: 'open' };
  return { type: 'closed', waiting_for: mergeLines(awaited) };
}

function findInput(input: string, job: Job, { entries, known_inputs = [] }: World): Finding {
  if (known_inputs.includes(input)) return { type: 'met' };
  const producers = entries.filter(
    ({ delegation_id, produces = [] }) =>
      delegation_id !== job.delegation_id && (delegation_id === input || produces.includes(input)),
  );
  if (producers.some((other) => isGiven(other, job))) return { type: 'met' };
  const alive = producers.filter((other) => !hasEnded(other.state));
  if (alive.length > 0) {
    return {
      type: 'awaited',
      what: 'input',
      line: `input "${input}" from ${alive.map(describe).join(' or ')}`,
      from: alive.map(({ delegation_id }) => delegation_id),
    };
  }
  const [first] = producers;
  const reason =
    first === undefined
      ? `nothing produces the input "${input}"`
      : `input "${input}" cannot come: ${describeEnd(first)}`;
  return { type: 'lost', reason };
}

function findDependency(id: string, job: Job, { entries }: World): Finding {
  const other = entries.find(({ delegation_id }) => delegation_id === id);
  if (other === undefined) return { type: 'lost', reason: `there is no delegation "${id}"` };
  if (isGiven(other, job)) return { type: 'met' };
  return hasEnded(other.state) ? { type: 'lost', reason: describeEnd(other) } : awaitJob(other);
}

/** A predecessor that is not there is over: a team drops the links of ended tasks. */
function findPredecessor(id: string, { entries }: World): Finding {
  const other = entries.find(({ delegation_id }) => delegation_id === id);
  return other === undefined || hasEnded(other.state) ? { type: 'met' } : awaitJob(other);
}

function awaitJob(other: Entry): Finding {
  return { type: 'awaited', what: 'job', line: describe(other), from: [other.delegation_id] };
}

function isGiven(other: Entry, { needs }: Job): boolean {
  return other.state === 'completed' && !(needs === 'met' && other.leaves_unmet);
}

/** Joins the lines. A dependency that also brings an awaited input is named only there. */
function mergeLines(awaited: readonly Extract<Finding, { type: 'awaited' }>[]): string[] {
  const told = new Set(awaited.flatMap((f) => (f.what === 'input' ? f.from : [])));
  return awaited
    .filter((f) => f.what === 'input' || !f.from.every((id) => told.has(id)))
    .map((f) => f.line);
}

/** Joins the reasons. A dependency that is also the lost producer of an input is named only there. */
function joinReasons(reasons: readonly string[]): string {
  return [...new Set(reasons)]
    .filter((reason, _, all) => !all.some((other) => other.endsWith(`: ${reason}`)))
    .join('; ');
}

function describe(other: Entry): string {
  return `${other.name ?? other.delegation_id} (${other.state})`;
}

function describeEnd({ delegation_id, name = delegation_id, state }: Entry): string {
  if (state === 'completed') return `${name} completed with criteria unmet, and "needs" is "met"`;
  if (state === 'timed_out') return `${name} ran out of time`;
  return state === 'failed' ? `${name} failed` : `${name} was ${state}`;
}

/** Tells people what a job waits for, or why it ended. Empty while it works. */
export function describeWait(entry: Entry, schedule: Schedule): string {
  const { state, reason } = entry;
  if (state === 'running' || hasEnded(state)) return reason;
  if (state === 'waiting') return 'answers to its questions';
  const gate = state === 'pending' ? decideGate(entry, schedule) : null;
  if (gate?.type === 'closed') return gate.waiting_for.join('; ');
  if (gate?.type === 'impossible') return gate.reason;
  if (schedule.mode === 'paused') return 'the run to be resumed';
  if (schedule.mode === 'stopping') return 'its end: the run is being stopped';
  return `a free slot (${countRunning(schedule)} of ${schedule.max_parallel} at work)`;
}
