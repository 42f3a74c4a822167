import { Pool, type PoolConfig } from 'pg';

/** Milliseconds after which an unused connection is closed. */
const idleMs = 10_000;

export interface PoolLimits extends Pick<PoolConfig, 'keepAlive'> {
  /** Connections of one process. */
  readonly max: number;
  /** Milliseconds after which connecting is given up. */
  readonly connectMs: number;
  /** Milliseconds after which a statement is given up, here and at the server. */
  readonly queryMs: number;
}

/** Opens a pool of connections. They are made at their first use, close themselves soon after the last, and keep no process alive. */
export function openPool(url: string, { max, connectMs, queryMs, ...rest }: PoolLimits): Pool {
  const pool = new Pool({
    ...rest,
    connectionString: url,
    max,
    connectionTimeoutMillis: connectMs,
    query_timeout: queryMs,
    // The server gives up too, so that an abandoned statement holds no lock.
    statement_timeout: queryMs,
    idle_in_transaction_session_timeout: queryMs,
    idleTimeoutMillis: idleMs,
    allowExitOnIdle: true,
    application_name: 'planwave',
  });
  // A broken idle connection is no error: the next use opens another one.
  pool.on('error', () => {});
  // Of one in use the statement fails; without a listener the process would end too.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
