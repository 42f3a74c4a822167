import type { BenchWave } from '../bench-wave.ts';

/** Where other engines are found. */
export interface PeersPlace {
  /** A folder with their packages in its node_modules, absolute. */
  readonly folder: string;
  /** Address of a PostgreSQL server, for a user who may create databases. */
  readonly postgresUrl: string;
}

/** Start message for the process of a peer. */
export interface PeerStart extends PeersPlace {
  /** Name of the database that is made for it, and dropped when it ends. */
  readonly database: string;
  readonly modelUrl: string;
}

/** From the bench to a peer. */
export type PeerRequest =
  | {
      readonly type: 'wave';
      readonly nth: number;
      readonly key: string;
      readonly wave: BenchWave;
    }
  | { readonly type: 'close' };

/** From a peer to the bench. */
export type PeerMessage =
  | {
      readonly type: 'ready';
      /** The server's version, and how far it goes to keep what is committed. */
      readonly postgres: string;
      /** Id of the server process that serves the peer; valid only on the server's machine. */
      readonly backendPid: number;
    }
  | { readonly type: 'done'; readonly nth: number }
  | { readonly type: 'failed'; readonly nth: number; readonly message: string };
