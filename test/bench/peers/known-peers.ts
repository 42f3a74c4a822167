import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PeersPlace } from './peer-messages.ts';

/** Another engine that the same waves are done with, when its packages are there. */
export interface KnownPeer {
  /** For keys and databases. */
  readonly id: string;
  readonly title: string;
  /** Beside this file. */
  readonly script: string;
  /** Packages of the engine. The report names the version of the first. */
  readonly packages: readonly [string, ...string[]];
}

export const knownPeers: readonly KnownPeer[] = [
  {
    id: 'langgraph',
    title: 'LangGraph with its PostgreSQL checkpointer',
    script: 'langgraph-peer.mjs',
    packages: [
      '@langchain/langgraph',
      '@langchain/langgraph-checkpoint-postgres',
      '@langchain/core',
      'pg',
    ],
  },
  {
    id: 'dbos',
    title: 'DBOS with PostgreSQL',
    script: 'dbos-peer.mjs',
    packages: ['@dbos-inc/dbos-sdk', 'pg'],
  },
];

/** @returns packages that are not there. */
export function findMissing({ packages }: KnownPeer, { folder }: PeersPlace): string[] {
  return packages.filter((name) => !existsSync(manifestOf(folder, name)));
}

export function readPeerVersion({ packages }: KnownPeer, { folder }: PeersPlace): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(manifestOf(folder, packages[0]), 'utf8'),
  );
  return version;
}

function manifestOf(folder: string, name: string): string {
  return join(folder, 'node_modules', name, 'package.json');
}
