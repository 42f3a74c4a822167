import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A way to a server that can be closed and slowed. Closed in one direction, clients still hear what they can't answer. */
export interface TcpGate {
  /** `host:port` for the clients. */
  readonly address: string;
  /** Nothing that a client sends passes any more; with `both`, nothing that it would hear either. */
  hold(which?: 'both'): void;
  /** Everything passes so many milliseconds later, in each direction. */
  delay(ms: number): void;
  /** Forwards the held data, except that of clients that have disconnected. */
  open(): void;
  close(): Promise<void>;
}

/** @param target `host:port` of the server behind the gate. */
export async function openTcpGate(target: string): Promise<TcpGate> {
  const [host = '', port = ''] = target.split(':');
  const passages = new Set<Passage>();
  let held: 'out' | 'both' | null = null;
  let delayMs = 0;
  const server = createServer({ noDelay: true }, (client) => {
    const passage = createPassage(client, connect({ host, port: Number(port), noDelay: true }));
    passages.add(passage);
    client.on('close', () => passages.delete(passage));
    passage.delay(delayMs);
    if (held !== null) passage.hold(held);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    address: `127.0.0.1:${isBound(address) ? address.port : 0}`,
    hold(which) {
      held = which ?? 'out';
      for (const passage of passages) passage.hold(held);
    },
    delay(ms) {
      delayMs = ms;
      for (const passage of passages) passage.delay(ms);
    },
    open() {
      held = null;
      for (const passage of passages) passage.open();
    },
    async close() {
      for (const passage of passages) passage.cut();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Passage {
  hold(which: 'out' | 'both'): void;
  delay(ms: number): void;
  open(): void;
  cut(): void;
}

function createPassage(client: Socket, server: Socket): Passage {
  const out = createStream((bytes) => server.write(bytes));
  const back = createStream((bytes) => client.write(bytes));
  client.on('data', (bytes: Buffer) => out.send(bytes));
  server.on('data', (bytes: Buffer) => back.send(bytes));
  const cut = (): void => {
    client.destroy();
    server.destroy();
  };
  // A killed process and a killed server close their side without a word; so does the gate.
  for (const socket of [client, server]) socket.on('error', cut).on('close', cut).on('end', cut);
  return {
    cut,
    hold(which) {
      out.hold();
      if (which === 'both') back.hold();
    },
    delay(ms) {
      out.delay(ms);
      back.delay(ms);
    },
    open() {
      out.open();
      back.open();
    },
  };
}

/** One direction, in which nothing overtakes anything. */
function createStream(write: (bytes: Buffer) => void) {
  const waiting: { readonly bytes: Buffer; readonly atMs: number }[] = [];
  let isHeld = false;
  let delayMs = 0;
  const flush = (): void => {
    if (isHeld) return;
    const due = waiting.filter(({ atMs }) => atMs <= Date.now()).length;
    for (const { bytes } of waiting.splice(0, due)) write(bytes);
  };
  return {
    send(bytes: Buffer) {
      waiting.push({ bytes, atMs: Date.now() + delayMs });
      if (delayMs === 0) flush();
      // A little later than due: timers are early by a fraction.
      else setTimeout(flush, delayMs + 1);
    },
    hold: () => (isHeld = true),
    delay(ms: number) {
      delayMs = ms;
    },
    open() {
      isHeld = false;
      flush();
    },
  };
}

function isBound(address: string | AddressInfo | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}
