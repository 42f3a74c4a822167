import { StdioTransport } from '../../../activities/adapters/mcp/stdio-transport.ts';

/** Explains a server that has written a text, the value of an expression, which ends with "end". */
async function explainAfter(text: string): Promise<string> {
  const args = ['-e', `process.stderr.write(${text}); process.stdin.resume()`];
  const server = {
    type: 'stdio',
    command: process.execPath,
    args,
    env: {},
    sandbox: null,
  } as const;
  const transport = new StdioTransport(server);
  await transport.start();
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
