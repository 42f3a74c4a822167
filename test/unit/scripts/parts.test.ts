import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  findPortHolder,
  optionOf,
  refuseTakenPort,
} from '../../../scripts/dev-server/running-server.ts';
import { startPart, takeLogFile, type Part } from '../../../scripts/parts/part.ts';
import { supervise } from '../../../scripts/parts/supervise.ts';
import { makeFolder } from './fake-executables.ts';

const parts: Part[] = [];

afterEach(() => {
  for (const part of parts.splice(0)) part.kill();
});

function startScript(script: string, kind: 'node' | 'foreign' = 'node'): Part {
  const part = startPart({
    command: process.execPath,
    args: ['--eval', script],
    env: process.env,
    logFile: join(makeFolder(), 'part.log'),
    kind,
  });
  parts.push(part);
  return part;
}

const stayAlive = 'setInterval(() => {}, 1000);';

it('processes side by side have a log each, and one alone has the usual one', async () => {
  const folder = makeFolder();
  const take = (): string => basename(takeLogFile(folder, 'worker'));
  const beside = startScript(stayAlive);
  writeFileSync(join(folder, 'worker.log.pid'), String(beside.pid));
  expect([take(), take()]).toEqual(['worker-2.log', 'worker-2.log']);
  beside.kill();
  await beside.ended;
  expect([take(), take()]).toEqual(['worker.log', 'worker.log']);
});

describe('a part', () => {
  it('tells how it ended and keeps what it wrote', async () => {
    const part = startScript('console.log("out"); console.error("err"); process.exitCode = 7;');
    expect(await part.ended).toBe('exit code 7');
    expect(readFileSync(part.logFile, 'utf8')).toBe('out\nerr\n');
  });

  it('passes on the exit code of a program behind the guard', async () => {
    const part = startScript('process.exitCode = 7;', 'foreign');
    expect(await part.ended).toBe('exit code 7');
  });

  it('ends when it is asked to', async () => {
    const part = startScript(
      `process.on("SIGTERM", () => process.exit(0)); process.send("up"); ${stayAlive}`,
    );
    await part.firstMessage;
    await part.stop(60_000);
    expect(await part.ended).toBe('exit code 0');
  });

  it('is ended by force when it does not', async () => {
    const part = startScript(`process.on("SIGTERM", () => {}); process.send("up"); ${stayAlive}`);
    await part.firstMessage;
    await part.stop(1);
    expect(await part.ended).toBe('SIGKILL');
  });

  it('that cannot be started says why', async () => {
    const part = startPart({
      command: '/no/such/program',
      args: [],
      env: process.env,
      logFile: join(makeFolder(), 'part.log'),
      kind: 'node',
    });
    expect(await part.ended).toContain('could not be started');
    await part.stop(1);
  });

  it('behind the guard ends when its starter is killed', async () => {
    const guard = fileURLToPath(new URL('../../../scripts/parts/guard.sh', import.meta.url));
    const program = `process.on("SIGTERM", () => { console.log("left"); process.exit(0); });
      console.log("up"); ${stayAlive}`;
    const starter = `const { spawn } = require("node:child_process");
      spawn("/bin/sh", [${JSON.stringify(guard)}, process.execPath, "--eval", ${JSON.stringify(program)}],
        { detached: true, stdio: ["pipe", "inherit", "inherit"] });`;
    const parent = spawn(process.execPath, ['--eval', starter], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    parent.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output === 'up\n') parent.kill('SIGKILL');
    });
    // The pipe closes when the last process that holds it has ended.
    await once(parent.stdout, 'close');
    expect(output).toBe('up\nleft\n');
  });
});

describe('a supervised part', () => {
  it('is started again when it dies, and that is said with the end of its log', async () => {
    const said: string[] = [];
    const restarts = new EventEmitter<{ restart: [Part] }>();
    const again = once(restarts, 'restart');
    const supervised = supervise({
      name: 'worker',
      part: startScript('console.log("last words"); process.exit(3);'),
      restart: async () => {
        const part = startScript(stayAlive);
        restarts.emit('restart', part);
        return part;
      },
      say: (line) => said.push(line),
    });
    await again;
    expect(said[0]).toMatch(/The worker died \(exit code 3\)[^]*last words/);
    await supervised.stop(60_000);
    expect(await parts.at(-1)?.ended).toBe('SIGTERM');
  });

  it('is given up when it cannot be started again', async () => {
    const supervised = supervise({
      name: 'worker',
      part: startScript('process.exit(3);'),
      restart: () => Promise.reject(new Error('no room')),
      say: () => {},
    });
    expect(await supervised.givenUp).toBe('the worker could not be started again: no room');
  });
});

describe('a port that is taken', () => {
  it('is refused with its number, its holder and how to choose another', async () => {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const address = listener.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    try {
      const refusal = refuseTakenPort(port, 'PLANWAVE_UI_PORT', 'the Temporal Web UI');
      await expect(refusal).rejects.toThrow(
        new RegExp(
          `Port ${port}, wanted for the Temporal Web UI, is taken by .*PLANWAVE_UI_PORT=`,
          's',
        ),
      );
      expect((await findPortHolder(port))?.pid).toBe(process.pid);
    } finally {
      listener.close();
    }
  });
});

it.each([
  [['temporal', '--port', '7233'], '7233'],
  [['temporal', '--port=7233'], '7233'],
  [['temporal', '--ui-port=8233'], undefined],
])('reads an option from the command line %j', (command, value) => {
  expect(optionOf(command, 'port')).toBe(value);
});

describe('a process that a shell runs hears of the end of the shell', () => {
  const supervisor = fileURLToPath(new URL('../../../scripts/parts/supervise.ts', import.meta.url));
  const script = `
    const { listenForStop } = await import(${JSON.stringify(supervisor)});
    const stop = listenForStop();
    console.log('listening');
    const left = new Promise((resolve) => setTimeout(resolve, Number(process.argv[2]), 'left alone'));
    console.log(await Promise.race([stop.asked.then(() => 'asked'), left]));
    process.exit(0);`;

  it.each([
    ['node scripts/planwave.mjs dev', 'asked', 60_000],
    ["planwave 'dev'", 'asked', 60_000],
    ['planwave dev & my-tool', 'left alone', 1_500],
    ['my-tool', 'left alone', 1_500],
  ])('if npm started it by "%s": %s', async (line, end, waitMs) => {
    const file = join(makeFolder(), 'listen.mjs');
    writeFileSync(file, script);
    const shell = spawn(
      'sh',
      ['-c', `"${process.execPath}" --import tsx "${file}" ${waitMs}; true`],
      {
        env: { ...process.env, npm_lifecycle_script: line },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let out = '';
    shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (text.includes('listening')) shell.kill('SIGTERM');
    });
    await once(shell.stdout, 'end');
    expect(out).toBe(`listening\n${end}\n`);
  });
});
