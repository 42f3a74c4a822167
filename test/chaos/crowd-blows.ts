import { setTimeout as sleep } from 'node:timers/promises';
import type { Prng } from '../support/prng.ts';
import { untilRequestsArrive, wakesMs } from './interruption.ts';
import type { Lane } from './lane.ts';
import type { Tally } from './tally.ts';

/** A blow against the processes that many runs share. */
export interface CrowdBlow {
  /** As the report names it. */
  readonly kind: string;
  /** True when a process dies of it; otherwise it stands still for a while. */
  readonly isDeath: boolean;
  /**
   * Hurts and heals.
   *
   * @param findUnrecorded Returns the keys of the calls that have no recorded reply; needs the server and the store.
   * @returns the keys of the calls that may be made once more.
   */
  strike(findUnrecorded: () => Promise<string[]>): Promise<readonly string[]>;
}

/** A server that the workers share. */
export interface SharedPart {
  kill(): Promise<unknown>;
  restart(): Promise<void>;
}

/** Servers that the workers of a cluster share. A missing one is null. */
export interface SharedParts {
  readonly server: SharedPart | null;
  readonly postgres: SharedPart | null;
  readonly objects: SharedPart | null;
}

/** Milliseconds for which a server is away: longer than a few attempts at a call or a write take. */
const awayMs = 3_000;
/** Milliseconds for which a worker is suspended: longer than its heartbeats may stop, so that others take its work over. */
const suspendedMs = 10_000;
/** Milliseconds that a reply may take to be recorded. */
const recordsMs = 1_000;

/** Returns a text for each kind of blow that never came: what it may break has not been shown to hold. */
export function findMissing(
  blows: readonly Pick<CrowdBlow, 'kind'>[],
  { fired }: Pick<Tally, 'fired'>,
): readonly string[] {
  return blows.flatMap(({ kind }) =>
    fired[kind] === undefined ? [`"${kind}". Try: more --runs`] : [],
  );
}

/** kill -9 of one of the workers, and another one in its place. */
export function killOfWorker(lane: Lane, random: Prng): CrowdBlow {
  return {
    kind: 'worker killed in a crowd',
    isDeath: true,
    async strike(findUnrecorded) {
      await lane.killWorker(random.pick(lane.workers));
      // What the dead had sent may still be on its way to the model.
      await untilRequestsArrive();
      const lost = await findUnrecorded();
      await lane.startWorker();
      return lost;
    },
  };
}

/** All blows against a cluster: against its workers, and against each server that it has. */
export function blowsOfCluster(lane: Lane, random: Prng, parts: SharedParts): CrowdBlow[] {
  const named = [
    ['Temporal server killed in a crowd', parts.server],
    ['PostgreSQL stopped in a crowd', parts.postgres],
    ['bucket away in a crowd', parts.objects],
  ] as const;
  return [
    killOfWorker(lane, random),
    suspensionOfWorker(lane, random),
    ...named.flatMap(([kind, part]) => (part === null ? [] : [outage(lane, kind, part)])),
  ];
}

function suspensionOfWorker(lane: Lane, random: Prng): CrowdBlow {
  return {
    kind: 'worker paused in a crowd',
    isDeath: false,
    strike: (findUnrecorded) =>
      amidCalls(lane, findUnrecorded, async () => {
        const worker = random.pick(lane.workers);
        worker.signal('SIGSTOP');
        await sleep(suspendedMs);
        worker.signal('SIGCONT');
        await sleep(wakesMs);
      }),
  };
}

function outage(lane: Lane, kind: string, part: SharedPart): CrowdBlow {
  return {
    kind,
    isDeath: true,
    strike: (findUnrecorded) =>
      amidCalls(lane, findUnrecorded, async () => {
        await part.kill();
        await sleep(awayMs);
        await part.restart();
      }),
  };
}

/**
 * Does what calls in progress may not survive. What is recorded can't be looked at meanwhile, so each of these calls may be made once
 * more.
 */
async function amidCalls(
  { rehearsal }: Lane,
  findUnrecorded: () => Promise<string[]>,
  hurt: () => Promise<void>,
): Promise<readonly string[]> {
  // From before the look, which may take seconds: calls that begin meanwhile are not in it.
  const sinceMs = Date.now() - recordsMs;
  const before = await findUnrecorded();
  await hurt();
  const amid = rehearsal.calls().filter(({ endedAtMs }) => (endedAtMs ?? sinceMs) >= sinceMs);
  return [...new Set([...before, ...amid.map(({ callKey }) => callKey)])];
}
