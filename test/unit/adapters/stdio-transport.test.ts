import { StdioTransport } from '../../../activities/adapters/mcp/stdio-transport.ts';

async function startServer(script: string): Promise<StdioTransport> {
  const args = ['-e', script];
  const transport = new StdioTransport({
    type: 'stdio',
    command: process.execPath,
    args,
    env: {},
    sandbox: null,
  });
  await transport.start();
  return transport;
}

/** Explains a server that has written a text, the value of an expression, which ends with "end". */
async function explainAfter(text: string): Promise<string> {
  const transport = await startServer(`process.stderr.write(${text}); process.stdin.resume()`);
  try {
    // Its words and its end could arrive in any order, so it lives on.
    return await vi.waitUntil(
      () => transport.explain('').endsWith('end') && transport.explain('it is late'),
      { timeout: 60_000 },
    );
  } finally {
    await transport.close();
  }
}

const begins = 'it is late; it said: ';

it('a server that said little is quoted as a whole', async () => {
  expect(await explainAfter('"no  token: the\\nend\\n"')).toBe(`${begins}no token: the end`);
});

it('of a server that said much, the newest words are shown, and no half ones', async () => {
  const said = await explainAfter('"loading ".repeat(2_000) + "\\nno token: the end\\n"');
  expect(said).toMatch(/; it said: …(?:loading )+no token: the end$/u);
  expect(said.length).toBeLessThanOrEqual(begins.length + 500);
});

it.each([
  ['that is shown', '"s3cret".repeat(20) + " " + "x ".repeat(245) + "end"'],
  // White space is kept, but not shown.
  ['that is kept', '"s3cret".repeat(200) + " ".repeat(3_000) + "end"'],
])('of a word at the edge of the text %s, nothing is shown', async (_title, text) => {
  const said = await explainAfter(text);
  expect(said).not.toContain('cret');
});

/** Ends a server that leaves behind a process of another group, which has its output. @returns the explanation. */
async function explainEnd(leftBehind: string): Promise<string> {
  const transport = await startServer(
    `const { spawn } = require('node:child_process');
     const options = { detached: true, stdio: ['ignore', 'inherit', 'inherit'] };
     spawn('sh', ['-c', ${JSON.stringify(leftBehind)}], options);
     process.exit(3);`,
  );
  await new Promise<void>((resolve) => {
    // A transport has no listeners.
    // oxlint-disable-next-line prefer-add-event-listener
    transport.onclose = resolve;
  });
  return transport.explain('it lives');
}

it('what comes right after the end of a server is read', async () => {
  expect(await explainEnd('sleep 0.2; echo no token >&2')).toBe(
    'it ended with the code 3; it said: no token',
  );
});

it('an output that stays open is not waited for', async () => {
  const said = await explainEnd('echo pid $$ >&2; exec sleep 600');
  const pid = Number(/it said: pid (\d+)$/.exec(said)?.[1]);
  // It is there still, and the transport has not waited for it.
  expect(process.kill(pid, 'SIGKILL')).toBe(true);
});
