import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A way to a server that can be closed in one direction: what clients say then does not arrive, what they hear does. */
export interface TcpGate {
  /** `host:port` for the clients. */
  readonly address: string;
  /** Nothing that a client sends passes any more. */
  hold(): void;
  /** Forwards the held data, except that of clients that have disconnected. */
  open(): void;
  close(): Promise<void>;
}

/** @param target `host:port` of the server behind the gate. */
export async function openTcpGate(target: string): Promise<TcpGate> {
  const [host = '', port = ''] = target.split(':');
  const passages = new Set<Passage>();
  let isHeld = false;
  const server = createServer({ noDelay: true }, (client) => {
    const passage = createPassage(client, connect({ host, port: Number(port), noDelay: true }));
    passages.add(passage);
    client.on('close', () => passages.delete(passage));
    if (isHeld) passage.hold();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    address: `127.0.0.1:${isBound(address) ? address.port : 0}`,
    hold() {
      isHeld = true;
      for (const passage of passages) passage.hold();
    },
    open() {
      isHeld = false;
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
  hold(): void;
  open(): void;
  cut(): void;
}

function createPassage(client: Socket, server: Socket): Passage {
  let held: Buffer[] | null = null;
  client.on('data', (bytes: Buffer) => {
    if (held === null) server.write(bytes);
    else held.push(bytes);
  });
  server.on('data', (bytes: Buffer) => void client.write(bytes));
  const cut = (): void => {
    client.destroy();
    server.destroy();
  };
  // A killed process and a killed server close their side without a word; so does the gate.
  for (const socket of [client, server]) socket.on('error', cut).on('close', cut).on('end', cut);
  return {
    cut,
    hold: () => (held ??= []),
    open() {
      for (const bytes of held ?? []) server.write(bytes);
      held = null;
    },
  };
}

function isBound(address: string | AddressInfo | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}
