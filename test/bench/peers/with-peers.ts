import type { FigureContext } from '../figure.ts';
import { findMissing, knownPeers, readPeerVersion } from './known-peers.ts';
import { startPeerProcess } from './peer-process.ts';
import type { PeerProcess } from './peer-process.ts';

export interface OpenPeer extends PeerProcess {
  readonly id: string;
  /** With its version. */
  readonly title: string;
}

/**
 * Brings up the other engines that are installed, for `work`, and takes them down again. Says which are not there, and
 * what would bring them.
 */
export async function withPeers<T>(
  { peers: place, say }: FigureContext,
  modelUrl: string,
  work: (peers: readonly OpenPeer[]) => Promise<T>,
): Promise<T> {
  if (place === null) {
    say('Without other engines. Try: --peers <folder>, as docs/benchmark.md says');
    return work([]);
  }
  const open: OpenPeer[] = [];
  try {
    for (const peer of knownPeers) {
      const missing = findMissing(peer, place);
      if (missing.length > 0) {
        const install = `npm install --prefix ${place.folder} ${missing.join(' ')}`;
        say(`Without ${peer.title}: ${missing.join(', ')} is not there. Try: ${install}`);
        continue;
      }
      const { id, script } = peer;
      const database = `planwave_bench_${id}_${process.pid}`;
      // One after the other, so that what fails is told alone.
      // oxlint-disable-next-line no-await-in-loop
      const started = await startPeerProcess(script, { ...place, database, modelUrl });
      open.push({ ...started, id, title: `${peer.title} (${readPeerVersion(peer, place)})` });
    }
    return await work(open);
  } finally {
    await Promise.all(open.map((peer) => peer.stop()));
  }
}
