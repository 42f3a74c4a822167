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
import { countRunning, hasEnded } from './schedule.ts';
import type { Entry, Job, Schedule } from './schedule.ts';

export type Gate =
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
