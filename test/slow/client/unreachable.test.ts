import { randomUUID } from 'node:crypto';
import { openSession } from '../../../client/cli/cli-session.ts';
import { sharedServer } from '../../support/shared-server.ts';
import { closedAddress, deafListener, runAt, wireTo } from '../../support/run-at.ts';

/** The promise is 10 s; what a test machine adds must not hide that it was kept. */
const promisedMs = 10_000;
const commands = [
  ['start', 'Compare three databases'],
  ['answer', 'run-1', 'q1', 'yes'],
  ['list', '--json'],
  ['watch', 'run-1'],
];

it.each([
  ['nobody listens', closedListener, /connection refused/],
  ['the listener never answers', () => deafListener(), /does not answer as a Temporal server/],
  [
    'something else listens',
    () => deafListener('HTTP/1.1 400 Bad Request\r\n\r\n'),
    /does not answer as a Temporal server/,
  ],
])(
  'fault 13: %s: each command says so in time and names the address',
  async (_case, open, reason) => {
    const listener = await open();
    const outcomes = await Promise.all(commands.map((argv) => runAt(listener.address, argv)));
    await listener.close();
    for (const { code, out, err, tookMs } of outcomes) {
      const text = err === '' ? out : err;
      const said = expect.stringContaining(
        `No Temporal server can be reached at ${listener.address}`,
      );
      expect({ code, text }).toEqual({ code: 3, text: said });
      expect(tookMs).toBeLessThan(promisedMs);
      expect(text).toMatch(reason);
      expect(text).toMatch(/npm run dev.*TEMPORAL_ADDRESS/);
      expect(text.trimEnd()).not.toContain('\n');
    }
  },
);

it('fault 13: a host name that does not exist', async () => {
  const { code, err, tookMs } = await runAt('no-such-host.invalid:7233', ['list']);
  expect(code).toBe(3);
  expect(tookMs).toBeLessThan(promisedMs);
  expect(err).toContain('no-such-host.invalid:7233');
});

it('an address that is none is bad input', async () => {
  const { code, err } = await runAt('http://localhost:7233/x', ['list']);
  expect(code).toBe(2);
  expect(err).toMatch(/Temporal address .* can't be used.*Try: host:port/);
});

it.each([['start', 'goal', '--id'], ['answer', 'q1', 'yes'], ['status'], ['pause']])(
  'fault 13: the server is gone when %s is on its way',
  async (command, ...rest) => {
    const wire = await wireTo(sharedServer().address);
    const runId = `gone-${randomUUID().slice(0, 8)}`;
    const session = await openSession({ address: wire.address }, {}, () => {});
    wire.cut();
    const argv = command === 'start' ? [command, ...rest, runId] : [command, runId, ...rest];
    const { code, err, tookMs } = await runAt(wire.address, argv, {
      deps: { openSession: () => Promise.resolve(session) },
    });
    await wire.close();
    expect(code).toBe(3);
    expect(tookMs).toBeLessThan(promisedMs);
    expect(err).toContain(`The Temporal server at ${wire.address} no longer answers.`);
  },
);

async function closedListener(): Promise<{ address: string; close: () => Promise<void> }> {
  return { address: closedAddress, close: () => Promise.resolve() };
}
