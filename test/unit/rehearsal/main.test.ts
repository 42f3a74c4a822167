import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startRehearsalServer } from '../../../rehearsal/server/server.ts';

const main = fileURLToPath(new URL('../../../rehearsal/server/main.ts', import.meta.url));

/** Runs the process entry; resolves with its first output once it prints or ends. */
function run(env: Record<string, string>): {
  child: ReturnType<typeof spawn>;
  ended: Promise<[number | null, string]>;
  printed: Promise<string>;
} {
  const child = spawn(process.execPath, ['--import', 'tsx', main], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const add = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  return {
    child,
    printed: once(child.stdout, 'data').then(() => output),
    ended: once(child, 'close').then((): [number | null, string] => [child.exitCode, output]),
  };
}

test('prints where it listens, answers there, and ends on SIGTERM', async () => {
  // An empty variable is not set: it must not listen on all networks.
  const env = { PLANWAVE_REHEARSAL_PORT: '0', PLANWAVE_REHEARSAL_HOST: '' };
  const { child, ended, printed } = run(env);
  const url = /http:\/\/127\.0\.0\.1:\d+/u.exec(await printed)?.[0] ?? '';
  expect((await fetch(url)).headers.get('server')).toBe('planwave-rehearsal');
  child.kill('SIGTERM');
  expect((await ended)[0]).toBe(0);
});

test('a port in use ends it with 1, says who holds it and how to choose another', async () => {
  const server = await startRehearsalServer({ port: 0 });
  const [code, output] = await run({ PLANWAVE_REHEARSAL_PORT: String(server.port) }).ended;
  await server.close();
  expect(code).toBe(1);
  expect(output).toContain(`Port ${server.port} is in use. Another rehearsal model listens there`);
  expect(output).toContain('PLANWAVE_REHEARSAL_PORT=');
});

test('a port that is no number ends it with 2', async () => {
  const [code, output] = await run({ PLANWAVE_REHEARSAL_PORT: '80 80' }).ended;
  expect(code).toBe(2);
  expect(output).toContain('PLANWAVE_REHEARSAL_PORT is "80 80"');
});
