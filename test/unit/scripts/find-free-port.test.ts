import { once } from 'node:events';
import { createServer } from 'node:net';
import { findFreePort } from '../../../scripts/dev-server/temporal-probe.ts';

it('finds ports that can be listened on, and that nobody else is given meanwhile', async () => {
  const found: number[] = [];
  // Left to chance, some of so many come twice.
  for (let count = 0; count < 600; count += 1) found.push(await findFreePort());
  expect(new Set(found).size).toBe(found.length);
  const server = createServer().listen(found[0], '127.0.0.1');
  await once(server, 'listening');
  server.close();
});
