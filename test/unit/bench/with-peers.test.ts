import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFigureContext } from '../../bench/figure-context.ts';
import type { FigureContext } from '../../bench/figure.ts';
import { findMissing, knownPeers, readPeerVersion } from '../../bench/peers/known-peers.ts';
import type { PeersPlace } from '../../bench/peers/peer-messages.ts';
import { withPeers } from '../../bench/peers/with-peers.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'planwave-peers-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function install(name: string): void {
  const place = join(folder, 'node_modules', name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name, version: '1.2.3' }));
}

/** @returns how many engines came up, and what was said. */
async function countPeers(peers: PeersPlace | null): Promise<[number, string]> {
  const said: string[] = [];
  const context: FigureContext = {
    ...createFigureContext({ rounds: 1, trial: true, peers }),
    say: (line) => said.push(line),
  };
  const count = await withPeers(context, 'http://127.0.0.1:9', async (open) => open.length);
  return [count, said.join('\n')];
}

it('without a folder the measurement says so, and goes on', async () => {
  expect(await countPeers(null)).toEqual([0, expect.stringContaining('Try: --peers <folder>')]);
});

it('an engine whose packages are missing is left out, with what would bring it', async () => {
  const [count, said] = await countPeers({ folder, postgresUrl: 'postgresql://127.0.0.1:9/none' });
  expect(count).toBe(0);
  for (const { title } of knownPeers) expect(said).toContain(`Without ${title}`);
  expect(said).toContain(`Try: npm install --prefix ${folder} @dbos-inc/dbos-sdk`);
});

it('an engine is there when all of its packages are, and its version is told', () => {
  const place = { folder, postgresUrl: '' };
  for (const peer of knownPeers) {
    for (const name of peer.packages) {
      expect(findMissing(peer, place)).toContain(name);
      install(name);
    }
    expect(findMissing(peer, place)).toEqual([]);
    expect(readPeerVersion(peer, place)).toBe('1.2.3');
    rmSync(join(folder, 'node_modules'), { recursive: true });
  }
});
