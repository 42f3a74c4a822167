import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { createServer } from 'node:tls';
import type { Certified } from './certificates.ts';

/** Listener that takes the TLS off and passes everything on. */
export interface TlsFront {
  readonly address: string;
  /** Names of the clients' certificates that came so far. */
  readonly clients: ReadonlySet<string>;
  close(): Promise<void>;
}

/**
 * Starts a TLS server in front of another server.
 *
 * @param target `host:port` of a server without TLS.
 * @param clientCa PEM of the authority that clients' certificates must come from. If undefined, clients need none.
 */
export async function startTlsFront(
  target: string,
  { cert, key }: Certified,
  clientCa?: string,
): Promise<TlsFront> {
  const [host = '', port = ''] = target.split(':');
  const open = new Set<Socket>();
  const clients = new Set<string>();
  const server = createServer(
    {
      cert,
      key,
      ALPNProtocols: ['h2'],
      ...(clientCa !== undefined && { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
    },
    (socket) => {
      const subject = socket.getPeerX509Certificate()?.subject;
      if (subject !== undefined) clients.add(subject);
      const upstream = connect({ host, port: Number(port) });
      for (const [from, to] of [
        [socket, upstream],
        [upstream, socket],
      ] as const) {
        open.add(from);
        from.on('error', () => {});
        from.on('close', () => to.destroy());
        from.pipe(to);
      }
    },
  );
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the listener has no port');
  return {
    address: `127.0.0.1:${bound.port}`,
    clients,
    close: () => {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
