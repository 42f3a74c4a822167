import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** Proxy before a PostgreSQL server that cuts connections where a test wants it. */
export interface CuttingProxy {
  /** The server's URL, through the proxy. */
  readonly url: string;
  /**
   * Cuts the connection of the next statement that contains a text, `before` the server gets it, or `after` it has been
   * carried out and before its answer arrives.
   */
  cutNext(when: 'before' | 'after', text: string): void;
  /** Number of connections that were cut. */
  cuts(): number;
  close(): void;
}

/** The server's last message of an answer, when no transaction is open. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

export async function startCuttingProxy(serverUrl: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let wanted: { readonly when: 'before' | 'after'; readonly text: string } | null = null;
  let cuts = 0;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    let isLast = false;
    const cut = (): void => {
      cuts += 1;
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (wanted !== null && bytes.includes(wanted.text)) {
        const { when } = wanted;
        wanted = null;
        if (when === 'before') return cut();
        isLast = true;
      }
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (!isLast) client.write(bytes);
      else if (bytes.includes(readyForQuery)) cut();
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = new URL(serverUrl);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the documentation of `address` has it
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    cutNext: (when, text) => (wanted = { when, text }),
    cuts: () => cuts,
    close: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}
