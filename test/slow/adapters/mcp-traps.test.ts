import { McpRefused, McpUnavailable } from '../../../activities/ports/mcp-servers.ts';
import { redactTool } from '../../../activities/redaction/redact-ports.ts';
import { describeFailure } from '../../../activities/tools/call-tool.ts';
import { createMcpTool } from '../../../activities/tools/mcp/create-mcp-tool.ts';
import { createRedactor } from '../../../redaction/create-redactor.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { planted } from '../../support/planted.ts';
import { callOdd, createOddServers } from '../../support/mcp/odd-servers.ts';
import type { OddServers } from '../../support/mcp/odd-servers.ts';
import { eventually } from '../../support/eventually.ts';

let odd: OddServers;
beforeEach(() => {
  odd = createOddServers();
});
afterEach(() => odd.end());

/** Process ids that the servers have noted. */
function pids(what: 'start' | 'child'): number[] {
  return odd.notes().flatMap((line) => {
    const [word, pid] = line.split(' ');
    return word === what ? [Number(pid)] : [];
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function noted(line: string): Promise<void> {
  await eventually(line, async () => odd.notes().includes(line));
}

function textOf(answer: { readonly content: readonly unknown[] }): string {
  return JSON.stringify(answer.content);
}

it('noise on the output is skipped, and an error output that nobody asked for stops nothing', async () => {
  const mcp = odd.open({ flags: ['--noisy', '--chatty'] });
  const answer = await callOdd(mcp, await odd.pin(mcp, 'echo'), { text: 'hello' });
  expect(textOf(answer)).toContain('hello from');
  await mcp.close();
  for (const pid of pids('start')) expect(isAlive(pid)).toBe(false);
});

it('closing ends everything that the server has started, even what ignores the end', async () => {
  const flags = ['--leaves-child', '--stays'];
  const mcp = odd.open({ flags, behind: ['sh', '-c', '"$0" "$@"; true'] });
  await callOdd(mcp, await odd.pin(mcp, 'echo'), { text: 'hello' });
  expect(pids('child').length).toBeGreaterThan(0);
  await mcp.close();
  for (const pid of [...pids('start'), ...pids('child')]) {
    await eventually(`the end of ${pid}`, async () => !isAlive(pid));
  }
});

it('a server has a clean environment and is offered no capabilities', async () => {
  process.env['ANTHROPIC_API_KEY_OF_TEST'] = 'secret-of-the-worker';
  const mcp = odd.open();
  const answer = await callOdd(mcp, await odd.pin(mcp, 'env'));
  delete process.env['ANTHROPIC_API_KEY_OF_TEST'];
  expect(textOf(answer)).toContain('for-odd');
  expect(textOf(answer)).not.toContain('secret-of-the-worker');
  expect(odd.notes()).toContain('capabilities {}');
});

it('an abort is told from a timeout, and the server is told of it', async () => {
  const mcp = odd.open();
  const pin = await odd.pin(mcp, 'hang');
  const given = new AbortController();
  const call = callOdd(mcp, pin, {}, { signal: given.signal });
  await noted('call hang');
  const reason = new Error('the run was stopped');
  given.abort(reason);
  await expect(call).rejects.toBe(reason);
  await noted('cancelled');
});

it('a server that hangs is an error with a cure, and the next call gets a new one', async () => {
  const mcp = odd.open({ timeoutMs: 5_000 });
  await expect(callOdd(mcp, await odd.pin(mcp, 'hang'))).rejects.toThrow(
    /"odd" did not answer in time: Request timed out. Cure: run its command by hand/,
  );
  const echo = await odd.pin(mcp, 'echo');
  expect(textOf(await callOdd(mcp, echo, { text: 'again' }))).toContain('again from');
});

it('a server whose list of tools hangs after a change is started again, and its calls at work end first', async () => {
  const mcp = odd.open({ timeoutMs: 4_000, flags: ['--hangs-later'] });
  const [echo, turn, progress] = [
    await odd.pin(mcp, 'echo'),
    await odd.pin(mcp, 'turn'),
    await odd.pin(mcp, 'progress'),
  ];
  const atWork = callOdd(mcp, progress);
  await noted('call progress');
  await callOdd(mcp, turn);
  expect(textOf(await callOdd(mcp, echo, { text: 'again' }))).toContain('again from');
  expect(textOf(await atWork)).toContain('all steps');
});

it('a call that times out ends no other call, and the next one gets a new server', async () => {
  const mcp = odd.open({ timeoutMs: 5_000 });
  const [hang, progress] = [await odd.pin(mcp, 'hang'), await odd.pin(mcp, 'progress')];
  const hung = callOdd(mcp, hang).catch((error: unknown) => String(error));
  await noted('call hang');
  const atWork = callOdd(mcp, progress).then(textOf, String);
  expect(await hung).toContain('did not answer in time');
  const before = pids('start');
  expect(textOf(await callOdd(mcp, await odd.pin(mcp, 'env')))).toContain('for-odd');
  expect(await atWork).toContain('all steps');
  expect(pids('start').length).toBeGreaterThan(before.length + 1);
  // The server of both calls is ended with the last of them.
  for (const pid of before) await eventually(`the end of ${pid}`, async () => !isAlive(pid));
});

it('progress prolongs a call beyond its timeout, and is passed on', async () => {
  const mcp = odd.open({ timeoutMs: 5_000 });
  const words: string[] = [];
  const pin = await odd.pin(mcp, 'progress');
  const answer = await callOdd(mcp, pin, {}, { onProgress: (line) => words.push(line) });
  expect(textOf(answer)).toContain('all steps');
  expect(words).toContain('3/6 step 3');
});

it('a server that dies during a call is an error of unknown end, and is started again', async () => {
  const mcp = odd.open();
  const call = callOdd(mcp, await odd.pin(mcp, 'die'));
  await expect(call).rejects.toThrow(/ended or failed during the call: it was killed \(SIGKILL\)/);
  await expect(call).rejects.not.toBeInstanceOf(McpUnavailable);
  const echo = await odd.pin(mcp, 'echo');
  expect(textOf(await callOdd(mcp, echo, { text: 'again' }))).toContain('again from');
});

it('a server that died between two calls is noticed before the second, which succeeds', async () => {
  const mcp = odd.open();
  const echo = await odd.pin(mcp, 'echo');
  const first = textOf(await callOdd(mcp, echo, { text: 'one' }));
  const pid = Number(/from (\d+)/.exec(first)?.[1]);
  process.kill(pid, 'SIGKILL');
  await eventually('its end', async () => !isAlive(pid));
  const second = textOf(await callOdd(mcp, echo, { text: 'two' }));
  expect(second).toContain('two from');
  expect(second).not.toContain(String(pid));
});

it.each(['stdio', 'http'] as const)('60 MB by %s end the call and not the worker', async (by) => {
  const url = by === 'http' ? (await odd.serve()).url : undefined;
  const mcp = odd.open(url === undefined ? {} : { url });
  await expect(callOdd(mcp, await odd.pin(mcp, 'big'))).rejects.toThrow(
    /it sent (?:a message of )?more than 10000000 bytes/,
  );
});

it('one connection is kept for each run, and closed when it is idle', async () => {
  const mcp = odd.open({ idleMs: 1_000 });
  const echo = await odd.pin(mcp, 'echo');
  const pidOf = async (run_id: string): Promise<string | undefined> =>
    /from (\d+)/.exec(textOf(await callOdd(mcp, echo, { text: 'x' }, { run_id })))?.[1];
  const [one, again, other] = [await pidOf('one'), await pidOf('one'), await pidOf('other')];
  expect(again).toBe(one);
  expect(other).not.toBe(one);
  await eventually('both ends', async () => !isAlive(Number(one)) && !isAlive(Number(other)));
});

it('a server that never answers is given up, and says how to find out why', async () => {
  const missing = { type: 'stdio', command: 'no-such-program', args: [], env: {}, sandbox: null };
  const mcp = odd.open({ transport: { ...missing, type: 'stdio' } });
  const list = mcp.list('odd');
  await expect(list).rejects.toBeInstanceOf(McpUnavailable);
  await expect(list).rejects.toThrow(/"odd" does not start: spawn no-such-program ENOENT. Cure:/);
  await expect(odd.open({ flags: ['--hangs-list'], timeoutMs: 5_000 }).list('odd')).rejects.toThrow(
    /"odd" does not start/,
  );
});

it('what a server refuses is told apart from what may have happened', async () => {
  const mcp = odd.open();
  await expect(callOdd(mcp, await odd.pin(mcp, 'refuse'))).rejects.toBeInstanceOf(McpRefused);
  expect(await callOdd(mcp, await odd.pin(mcp, 'fail'))).toMatchObject({ isError: true });
  // No answer is checked against the server's own schema: the call has taken place.
  expect(await callOdd(mcp, await odd.pin(mcp, 'shape'))).toMatchObject({
    structured: { n: 'no number' },
  });
  expect(textOf(await callOdd(mcp, await odd.pin(mcp, 'untold')))).toContain('done');
});

it.each([
  ['refused the call', -32_602],
  ['reports an error', -32_000],
])(
  'a server that %s in one long word is quoted from its beginning, without half a secret',
  async (what, code) => {
    const mcp = odd.open();
    const redactor = createRedactor({ secrets: [planted.own] });
    const tool = redactTool(createMcpTool(mcp, await odd.pin(mcp, 'refuse'), redactor), redactor);
    if (tool.effect !== 'acting') throw new Error('a stranger acts');
    const text = `${'x'.repeat(1_900)}/${planted.own}/${'y'.repeat(200_000)}`;
    const context = Object({ signal: new AbortController().signal, store: createMemoryStore() });
    const error: unknown = await tool
      .act({ text, code }, { ...context, before: 'key', mayStill: async () => {} })
      .catch((thrown: unknown) => thrown);
    const told = describeFailure(tool, error);
    expect(told).toMatch(new RegExp(`failed: the server ${what}: .*x{1900}`, 'u'));
    expect(told).not.toContain(planted.own.slice(0, 14));
    expect(told.length).toBeLessThan(2_100);
  },
);

it.each([
  ['before 2026-07-28', async () => ({ flags: ['--malformed'] })],
  ['2026-07-28', () => odd.serve(['--malformed', '--new'])],
])('a malformed tool costs only itself, on revisions %s', async (_revision, serve) => {
  const mcp = odd.open(await serve());
  const { tools, leftOut } = await mcp.list('odd');
  expect(textOf(await callOdd(mcp, await odd.pin(mcp, 'untold')))).toContain('done');
  // The hash that runs have pinned: it leaves out what the protocol does not know.
  expect(tools.find(({ tool }) => tool === 'lies')?.hash).toBe(
    'UDwvezMMzuTRZyKuvOKka0N122Egg-h_EHSIe8XS4lk',
  );
  const reasons = leftOut.filter(({ tool }) => tool.startsWith('bad-'));
  expect(reasons.map(({ tool, reason }) => `${tool}: ${reason}`)).toEqual([
    'bad-bare: its arguments are no object',
    'bad-type: its arguments are no object',
    expect.stringMatching(/^bad-description: it does not fit the protocol: description: .*string/),
    expect.stringMatching(/^bad-hint: .* annotations.readOnlyHint: .*boolean/),
  ]);
});

it('a server that can not be used is not said to have ended, unless it has', async () => {
  await expect(odd.open({ flags: ['--lists-nothing'] }).list('odd')).rejects.toThrow(
    /"odd" does not start: Invalid result for tools\/list/,
  );
  const args = ['-e', 'console.error("no token"); process.exit(3)'];
  const transport = { command: process.execPath, args, env: {}, sandbox: null } as const;
  await expect(
    odd.open({ transport: { ...transport, type: 'stdio' } }).list('odd'),
  ).rejects.toThrow(/does not start: it ended with the code 3; it said: no token/);
});

it('an answer of an unknown shape is read', async () => {
  const mcp = odd.open();
  expect(await callOdd(mcp, await odd.pin(mcp, 'weird'))).toEqual({
    content: [{ type: 'hologram' }],
    structured: undefined,
    isError: false,
  });
});

it('a tool that changes during a run is refused in this run and taken by the next', async () => {
  const mcp = odd.open();
  const [echo, turn] = [await odd.pin(mcp, 'echo'), await odd.pin(mcp, 'turn')];
  await callOdd(mcp, echo, { text: 'before' });
  await callOdd(mcp, turn);
  // The second call comes while the list is read again for the first.
  for (const call of [callOdd(mcp, echo, { text: 'after' }), callOdd(mcp, echo, { text: 'too' })]) {
    const refusal = call.catch((error: unknown) => error);
    expect(await refusal).toBeInstanceOf(McpUnavailable);
    expect(String(await refusal)).toMatch(/has changed the tool "echo" since this run began/);
  }
  // The connection is still good for tools that are as they were.
  expect(textOf(await callOdd(mcp, turn))).toContain('changed');
  const changed = odd.open({ flags: ['--changed'] });
  const now = await odd.pin(changed, 'echo');
  expect(now.hash).not.toBe(echo.hash);
  expect(textOf(await callOdd(changed, now, { text: 'after' }))).toContain('after from');
});

it('a server by HTTP gets its token, and is called anew after it was restarted', async () => {
  const first = await odd.serve();
  const { port } = new URL(first.url);
  const mcp = odd.open({ url: first.url, headers: { Authorization: 'Bearer t0ken' } });
  const echo = await odd.pin(mcp, 'echo');
  expect(textOf(await callOdd(mcp, echo, { text: 'one' }))).toContain('one from');
  expect(odd.notes()).toContain('http POST Bearer t0ken');
  first.kill();
  await odd.serve([], Number(port));
  expect(textOf(await callOdd(mcp, echo, { text: 'two' }))).toContain('two from');
});

it('a server by HTTP that dies during a call is noticed before the timeout', async () => {
  const server = await odd.serve();
  const mcp = odd.open({ url: server.url, timeoutMs: 600_000 });
  const call = callOdd(mcp, await odd.pin(mcp, 'hang'));
  const failed = call.catch((error: unknown) => String(error));
  await noted('call hang');
  server.kill();
  expect(await failed).toContain('ended or failed during the call');
});

it('redirects are refused, and nothing reaches the other server', async () => {
  const other = await odd.serve();
  const before = odd.notes().length;
  const { url } = await odd.serve(['--redirects', other.url]);
  const mcp = odd.open({ url, headers: { Authorization: 'Bearer t0ken' } });
  await expect(mcp.list('odd')).rejects.toThrow(/it redirects, which is refused/);
  // Only the server that redirects was asked.
  const asked = odd
    .notes()
    .slice(before)
    .filter((line) => line.startsWith('http'));
  expect(asked).toHaveLength(1);
});

it('a refused token names the cure', async () => {
  const { url } = await odd.serve(['--forbids']);
  await expect(odd.open({ url }).list('odd')).rejects.toThrow(/give it a valid token in "headers"/);
});

it('a worker that has as many connections as it may closes one that is unused', async () => {
  const mcp = odd.open({ connectionsMax: 1 });
  const [echo, hang] = [await odd.pin(mcp, 'echo'), await odd.pin(mcp, 'hang')];
  await callOdd(mcp, echo, { text: 'x' }, { run_id: 'one' });
  const stop = new AbortController();
  const busy = callOdd(mcp, hang, {}, { run_id: 'two', signal: stop.signal });
  await noted('call hang');
  await expect(callOdd(mcp, echo, { text: 'x' }, { run_id: 'three' })).rejects.toThrow(
    /all are in use/,
  );
  stop.abort(new Error('enough'));
  await expect(busy).rejects.toThrow('enough');
});
