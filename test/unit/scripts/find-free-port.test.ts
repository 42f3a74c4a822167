import { once } from 'node:events';
import { createServer } from 'node:net';
import { findFreePort } from '../../../scripts/dev-server/temporal-probe.ts';

it('finds ports that can be listened on, and that neither it nor the system gives to anybody else', async () => {
  const found: number[] = [];
  // Left to chance, some of so many come twice.
  for (let count = 0; count < 600; count += 1) found.push(await findFreePort());
  expect(new Set(found).size).toBe(found.length);
  // From there on Linux takes ports for connections that go out.
  expect(Math.max(...found) + 1_000).toBeLessThan(32_768);
  const server = createServer().listen(found[0], '127.0.0.1');
  await once(server, 'listening');
  server.close();
});

it('passes over ports on which somebody listens', async () => {
  let port = await findFreePort();
  // Not the last ones, behind which the first follows.
  while (port > 31_000) port = await findFreePort();
  // One of another program does as well.
  const server = createServer().listen(port + 1, '127.0.0.1');
  await once(server, 'listening').catch(() => null);
  expect(await findFreePort()).toBeGreaterThan(port + 1);
  server.close();
});
