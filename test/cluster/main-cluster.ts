import { join } from 'node:path';
import { ensureTemporal } from '../../scripts/dev-server/dev-server.ts';
import { findFreePort } from '../../scripts/dev-server/temporal-probe.ts';
import { startNodePart } from '../../scripts/parts/part.ts';
import { partEnvironment, readSettings, type Settings } from '../../scripts/parts/settings.ts';
import { listenForStop, supervise } from '../../scripts/parts/supervise.ts';
import type { Supervised } from '../../scripts/parts/supervise.ts';
import { say } from '../../scripts/say.ts';
import { withRehearsal } from '../../scripts/stack.ts';
import { startCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { ensurePrograms } from './programs.ts';
import { commandText } from '../../core/text/format.ts';

const usage = `Usage: npm run cluster

Runs on this machine, without containers, what several hosts share: PostgreSQL, a Temporal server on it, an S3 server for
artifacts, and three workers with a home each. Go builds the two servers at the first time. Everything is thrown away at
Ctrl-C. A part that can't be had is named and left out.`;

const workersCount = 3;
/** Milliseconds that a worker may take to finish its calls. */
const graceMs = 130_000;

/** Runs `npm run cluster` until Ctrl-C. */
export async function main(args: readonly string[]): Promise<number> {
  if (args.length > 0) {
    console.log(usage);
    return args.includes('--help') ? 0 : 2;
  }
  const stop = listenForStop();
  const cluster = await startCluster((name) => ensurePrograms(name, say), say);
  const parts: Supervised[] = [];
  try {
    for (const line of cluster.missing) say(`Left out: ${line}`);
    const address = cluster.server?.address ?? (await startDevServer(cluster, parts));
    const env = await startModel(cluster, address, parts);
    // Without a shared store each worker would have runs of its own.
    const count = cluster.postgres === null ? 1 : workersCount;
    for (let nth = 1; nth <= count; nth += 1) {
      const home = join(cluster.folder, `worker-${nth}`);
      // oxlint-disable-next-line no-await-in-loop -- the first one makes the tables
      parts.push(await startPart(`worker ${nth}`, 'worker', home, env));
    }
    console.log(welcome(cluster, address, count));
    const reason = await Promise.race([stop.asked, ...parts.map((part) => part.givenUp)]);
    if (reason !== undefined) console.error(`Giving up: ${reason}`);
    return reason === undefined ? 0 : 1;
  } finally {
    say('Stopping …');
    const end = async (): Promise<void> => {
      await Promise.all(parts.toReversed().map((part) => part.stop(graceMs)));
    };
    await Promise.race([end(), stop.insisted.then(() => parts.forEach((part) => part.kill()))]);
    await cluster.stop();
  }
}

async function startPart(
  name: string,
  script: 'worker' | 'rehearsal',
  home: string,
  env: NodeJS.ProcessEnv,
): Promise<Supervised> {
  const start = () => startNodePart({ name: script, env: { ...env, PLANWAVE_HOME: home }, home });
  say(`Starting ${name} …`);
  return supervise({ name, part: await start(), restart: start, say });
}

/** Starts the embedded server in the place of one on PostgreSQL. @returns its address. */
async function startDevServer({ folder }: Cluster, parts: Supervised[]): Promise<string> {
  const temporalPort = await findFreePort();
  const settings: Settings = {
    ...readSettings({}),
    home: join(folder, 'server'),
    temporalAddressGiven: undefined,
    temporalPort,
    webUi: false,
  };
  const { address, part, restart } = await ensureTemporal({ settings, say });
  if (part !== undefined && restart !== undefined) {
    parts.push(supervise({ name: 'server', part, restart, say }));
  }
  return address;
}

/** Starts the rehearsal model when no real one is named. @returns the environment of workers. */
async function startModel(
  { folder, env }: Cluster,
  address: string,
  parts: Supervised[],
): Promise<NodeJS.ProcessEnv> {
  const settings = readSettings();
  const base = { ...partEnvironment(settings, address), ...env };
  if (!settings.needsRehearsal) return base;
  const port = String(await findFreePort());
  const place = { PLANWAVE_REHEARSAL_HOST: '127.0.0.1', PLANWAVE_REHEARSAL_PORT: port };
  parts.push(
    await startPart('the rehearsal model', 'rehearsal', join(folder, 'model'), {
      ...base,
      ...place,
    }),
  );
  return withRehearsal(base, `http://127.0.0.1:${port}`);
}

function welcome({ folder, env }: Cluster, address: string, workers: number): string {
  const shared = { TEMPORAL_ADDRESS: address, PLANWAVE_HOME: join(folder, 'client'), ...env };
  return [
    '',
    `The cluster is up: ${workers} ${workers === 1 ? 'worker' : 'workers'}. Files and logs: ${folder}`,
    '',
    'Next, in another terminal:',
    ...Object.entries(shared).map(([name, value]) => `  export ${name}='${value}'`),
    `  ${commandText('start', '--watch')} "Plan the move of our shop to a second data centre"`,
    'Ctrl-C stops everything and removes it.',
    '',
  ].join('\n');
}
