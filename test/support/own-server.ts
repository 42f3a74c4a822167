import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureTemporal } from '../../scripts/dev-server/dev-server.ts';
import { findFreePort } from '../../scripts/dev-server/temporal-probe.ts';
import type { Part } from '../../scripts/parts/part.ts';

/** Temporal server that a test may harm: no other test uses it. */
export interface OwnServer {
  /** Folder of its database. */
  readonly home: string;
  readonly address: string;
  readonly uiUrl: string;
  /** Sends kill -9. Resolves with how the server ended. */
  kill(): Promise<string>;
  /** Restarts it on its file and its ports. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startOwnServer(extraArguments: readonly string[] = []): Promise<OwnServer> {
  const home = mkdtempSync(join(tmpdir(), 'planwave-own-server-'));
  const [temporalPort, uiPort] = [await findFreePort(), await findFreePort()];
  const {
    address,
    uiUrl = '',
    part,
    restart,
  } = await ensureTemporal({
    settings: {
      home,
      temporalAddressGiven: undefined,
      temporalPort,
      uiPort,
      webUi: true,
      rehearsalPort: 0,
      needsRehearsal: true,
    },
    say: () => {},
    extraArguments,
  });
  if (part === undefined || restart === undefined) throw new Error('Somebody holds the port.');
  let current: Part = part;
  return {
    home,
    address,
    uiUrl,
    kill() {
      current.kill();
      return current.ended;
    },
    async restart() {
      current = await restart();
    },
    async stop() {
      await current.stop(10_000);
      rmSync(home, { recursive: true, force: true });
    },
  };
}
