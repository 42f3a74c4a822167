import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../scripts/bootstrap/expected-error.mjs';
import type { BenchWave } from '../bench-wave.ts';
import { createModelCaller } from '../model-caller.ts';
import type { ModelCall } from '../model-caller.ts';
import type { PeerMessage, PeerRequest, PeerStart } from './peer-messages.ts';

/** Tools with which another engine runs the waves. */
export interface PeerTools {
  /** A package of the peers' folder. */
  readonly load: NodeJS.Require;
  /** An empty database of its own. */
  readonly databaseUrl: string;
  /** The model, called as the floor calls it. */
  readonly call: ModelCall;
}

/** Another engine at work. */
export interface Peer {
  /** Does a wave: each reply is kept durably before the next call. @returns how many replies it has kept. */
  wave(wave: BenchWave, key: string): Promise<number>;
  close(): Promise<unknown>;
}

/** How long an engine may take to end in order, in milliseconds. One that is interrupted at work may never. */
const closeMs = 3_000;

interface ServerFacts {
  readonly postgres: string;
  readonly pid: number;
}

const factsQuery = `select pg_backend_pid() as pid,
  format('PostgreSQL %s, fsync %s, synchronous_commit %s',
    split_part(current_setting('server_version'), ' ', 1),
    current_setting('fsync'), current_setting('synchronous_commit')) as postgres`;

/** The used part of the package `pg`. */
interface Postgres {
  Client: new (url: string) => {
    connect(): Promise<void>;
    /** The rows are those of `factsQuery`; no other is read. */
    query(text: string): Promise<{ rows: ServerFacts[] }>;
    end(): Promise<void>;
  };
}

/** The process of a peer: makes its database, does waves until the bench has enough, and leaves nothing behind. */
export async function servePeer(open: (tools: PeerTools) => Promise<Peer>): Promise<void> {
  const start: PeerStart = JSON.parse(process.argv[2] ?? '');
  const load = createRequire(join(start.folder, 'package.json'));
  const { Client }: Postgres = load('pg');
  const admin = new Client(start.postgresUrl);
  await admin.connect();
  await admin.query(`drop database if exists ${start.database}`);
  await admin.query(`create database ${start.database}`);
  const databaseUrl = new URL(start.postgresUrl);
  databaseUrl.pathname = start.database;
  const caller = createModelCaller(start.modelUrl);
  const peer = await open({ load, databaseUrl: databaseUrl.href, call: caller.call });
  const close = async (): Promise<void> => {
    await Promise.race([peer.close(), sleep(closeMs)]);
    await admin.query(`drop database ${start.database} with (force)`);
    await admin.end();
    process.exit(0);
  };
  process.on('message', (request: PeerRequest) => {
    if (request.type === 'close') void close();
    else void answer(peer, request);
  });
  process.on('disconnect', () => void close());
  // Ctrl-C reaches the bench as well, which says when it is over.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
  const { rows } = await admin.query(factsQuery);
  send({ type: 'ready', postgres: rows[0]?.postgres ?? '', backendPid: rows[0]?.pid ?? -1 });
}

async function answer(
  peer: Peer,
  { nth, key, wave }: Extract<PeerRequest, { type: 'wave' }>,
): Promise<void> {
  try {
    const expected = wave.tasks.reduce((sum, { job }) => sum + job.turns, 1);
    const kept = await peer.wave(wave, key);
    if (kept !== expected) throw new Error(`${kept} replies were kept instead of ${expected}.`);
    send({ type: 'done', nth });
  } catch (error) {
    send({ type: 'failed', nth, message: messageOf(error) });
  }
}

function send(message: PeerMessage): void {
  process.send?.(message);
}
