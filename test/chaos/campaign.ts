import { ExpectedError } from '../../scripts/bootstrap/expected-error.mjs';
import { startCluster } from '../cluster/cluster.ts';
import { findPrograms } from '../cluster/programs.ts';
import { startOwnServer } from '../support/own-server.ts';
import type { OwnServer } from '../support/own-server.ts';
import type { CampaignOptions } from './campaign-options.ts';
import { closeOwnLanes, openLane, openOwnLanes } from './lane.ts';
import type { Lane } from './lane.ts';
import { phases, singlePhaseNames } from './phases/all-phases.ts';
import type { ReportedName, SinglePhaseName } from './phases/all-phases.ts';
import { blowsOfCluster } from './crowd-blows.ts';
import type { SharedParts } from './crowd-blows.ts';
import { clusterTitle, crowdTitle, playCrowd } from './play-crowd.ts';
import { playPhase } from './play-phase.ts';
import { momentsOf, playReference } from './play-reference.ts';
import type { Moments, PlayedReference } from './play-reference.ts';
import { runOf } from './runs/all-runs.ts';
import { createPrng } from '../support/prng.ts';
import type { Prng } from '../support/prng.ts';
import type { Tally } from './tally.ts';

export interface PhaseResult extends Tally {
  readonly name: ReportedName;
  readonly title: string;
}

export interface CampaignResult {
  readonly seed: number;
  /** Events and model calls of the undisturbed run. */
  readonly events: number;
  readonly calls: number;
  readonly lanes: number;
  readonly phases: readonly PhaseResult[];
  readonly seconds: number;
}

const crowdKillEveryMs = 10_000;
const clusterBlowEveryMs = 3_000;
const crowdOpenMax = 30;
/** A few runs one after the other, whose calls take long enough for a blow to find some of them. */
const clusterOpenMax = 6;
const clusterThinkMs = 1_000;

/** Runs the phases that were asked for, one after the other. Leaves no process behind. */
export async function runCampaign(
  options: CampaignOptions,
  say: (line: string) => void,
): Promise<CampaignResult> {
  const startedAtMs = Date.now();
  const random = createPrng(options.seed);
  const closing: Closing = [];
  try {
    const shared = options.cluster ? await openCluster(closing, say) : null;
    const address = shared?.address ?? (await openServer(closing)).address;
    const lanes: Lane[] = [];
    for (let count = 0; count < options.lanes; count += 1) {
      const lane = await openLane({
        address,
        ...(shared !== null && { store: shared.store, thinkMs: clusterThinkMs }),
      });
      closing.push(() => lane.close());
      lanes.push(lane);
    }
    const [lane] = lanes;
    if (lane === undefined) throw new Error('A campaign needs a lane.');
    const reference = await playReference(lane, runOf(options));
    const { eventCount, events, calls } = reference;
    say(`reference: ${eventCount} events in ${events.length} writes, ${calls.length} model calls`);
    const parts = shared?.parts ?? null;
    const campaign = { options, random, lanes, lane, reference, say, parts };
    const results: PhaseResult[] = [];
    for (const name of singlePhaseNames.filter((one) => options.only.includes(one))) {
      results.push(await playNamed(campaign, name));
    }
    if (options.only.includes('crowd')) results.push(await playCrowdOf(campaign));
    return {
      seed: options.seed,
      events: eventCount,
      calls: calls.length,
      lanes: options.lanes,
      phases: results,
      seconds: (Date.now() - startedAtMs) / 1_000,
    };
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}

/** Functions that close what is open, in the order of its opening. */
type Closing = (() => Promise<unknown>)[];

async function openServer(closing: Closing): Promise<OwnServer> {
  const server = await startOwnServer();
  closing.push(() => server.stop());
  return server;
}

/** Addresses of what workers share, and the servers behind them. */
interface SharedCluster {
  readonly address: string;
  readonly store: Readonly<Record<string, string>>;
  readonly parts: SharedParts;
}

/** Starts what workers share. The embedded server stands in for one on PostgreSQL that was not built. */
async function openCluster(closing: Closing, say: (line: string) => void): Promise<SharedCluster> {
  const cluster = await startCluster(findPrograms, say);
  closing.push(() => cluster.stop());
  for (const line of cluster.missing) say(`Left out: ${line}`);
  if (cluster.postgres === null) throw new ExpectedError(cluster.missing.join('\n'));
  const server = cluster.server ?? (await openServer(closing));
  const { postgres, objects, env } = cluster;
  return { address: server.address, store: env, parts: { server, postgres, objects } };
}

interface Campaign {
  readonly options: CampaignOptions;
  readonly random: Prng;
  readonly lanes: readonly Lane[];
  /** The first of them, for what needs only one. */
  readonly lane: Lane;
  readonly reference: PlayedReference;
  readonly say: (line: string) => void;
  /** Servers that the workers share; null unless they have a home each. */
  readonly parts: SharedParts | null;
}

async function playNamed(campaign: Campaign, name: SinglePhaseName): Promise<PhaseResult> {
  const { options, random, reference, say } = campaign;
  const phase = phases[name];
  const moments = momentsOf(reference, options.task);
  const blows = shareOf(name, options, moments);
  say(`${name}: ${blows} blows: ${phase.title}`);
  const lanes = phase.killsServer ? await openOwnLanes(options.lanes) : campaign.lanes;
  try {
    const tally = await playPhase({
      phase,
      name,
      lanes,
      reference,
      moments,
      blows,
      part: options.part,
      random: random.fork(name),
      onPlayed({ runId, interruptions, facts }, left, found) {
        say(`  ${runId}: ${facts?.status ?? 'STUCK'}, ${interruptions.length} blows, ${left} left`);
        for (const { kind, text } of found) say(`  ${runId}: BREACH: ${kind}: ${text}`);
      },
    });
    return { name, title: phase.title, ...tally };
  } finally {
    if (phase.killsServer) await closeOwnLanes(lanes);
  }
}

/** With `--deaths`, every phase deals its part of them; the crowd's deaths come on top. */
function shareOf(name: SinglePhaseName, options: CampaignOptions, moments: Moments): number {
  const all = phases[name].countBlows(moments);
  if (options.deaths === undefined) return all;
  const inAll = singlePhaseNames
    .filter((one) => options.only.includes(one))
    .reduce((sum, one) => sum + phases[one].countBlows(moments), 0);
  return Math.max(1, Math.round((all * options.deaths) / inAll));
}

async function playCrowdOf({
  options,
  random,
  lane,
  reference,
  say,
  parts,
}: Campaign): Promise<PhaseResult> {
  const { runs, deaths = 0 } = options;
  say(`crowd: ${parts === null ? '' : `until ${deaths} deaths, at least `}${runs} runs`);
  const chance = random.fork('crowd');
  const tally = await playCrowd({
    lane,
    reference,
    random: chance,
    name: 'crowd',
    runs,
    ...(parts === null
      ? { blowEveryMs: crowdKillEveryMs, openMax: crowdOpenMax }
      : {
          blows: blowsOfCluster(lane, chance, parts),
          deathsMin: deaths,
          blowEveryMs: clusterBlowEveryMs,
          openMax: clusterOpenMax,
        }),
    onProgress: (ended, died) => {
      if (ended % 20 === 0) say(`  ${ended} runs ended, ${died} deaths`);
    },
  });
  return { name: 'crowd', title: parts === null ? crowdTitle : clusterTitle, ...tally };
}
