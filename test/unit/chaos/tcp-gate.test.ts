import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { openTcpGate } from '../../chaos/tcp-gate.ts';
import { promisify } from 'node:util';
import { eventually } from '../../support/eventually.ts';

/** Says back what it is told, and keeps it. */
async function startEcho(): Promise<{
  server: Server;
  address: string;
  heard: () => string;
  connections: () => Promise<number>;
}> {
  let heard = '';
  const server = createServer((socket) =>
    socket.on('data', (bytes) => {
      heard += bytes.toString();
      socket.write(bytes);
    }),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  return {
    server,
    address: `127.0.0.1:${port}`,
    heard: () => heard,
    connections: promisify(server.getConnections.bind(server)),
  };
}

function talkTo(address: string): { socket: Socket; heard: () => string } {
  const [host = '', port = ''] = address.split(':');
  const socket = connect({ host, port: Number(port) });
  let heard = '';
  socket.on('data', (bytes) => (heard += bytes.toString()));
  return { socket, heard: () => heard };
}

it('holds what a client says and lets it go on, and forgets what a dead client had said', async () => {
  const echo = await startEcho();
  const gate = await openTcpGate(echo.address);
  const living = talkTo(gate.address);
  const dying = talkTo(gate.address);
  living.socket.write('a');
  dying.socket.write('b');
  await eventually('both heard', async () => echo.heard().length === 2);
  gate.hold();
  living.socket.write('c');
  dying.socket.write('d');
  // Whoever comes while the gate is closed is held as well.
  const newcomer = talkTo(gate.address);
  newcomer.socket.write('e');
  await eventually('three connections', async () => (await echo.connections()) === 3);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(echo.heard().length).toBe(2);
  dying.socket.destroy();
  // The gate closes its connection to the server when it has noticed the death.
  await eventually('two connections', async () => (await echo.connections()) === 2);
  gate.open();
  await eventually('the answers', async () => living.heard() === 'ac' && newcomer.heard() === 'e');
  expect(echo.heard()).not.toContain('d');
  await gate.close();
  echo.server.close();
});
