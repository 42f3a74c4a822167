import { execFileSync } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAgents } from '../../../activities/adapters/agent-files.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { openCliAgents } from '../../../scripts/cli-agents.ts';
import { loadTools } from '../../../worker/load-modules.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';

const cwd = mkdtempSync(join(tmpdir(), 'planwave-init-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

async function run(...argv: readonly string[]) {
  const io = createFakeIo();
  const code = await runCli(argv, createFakeDeps(io, {}, { cwd }));
  return { code, out: io.out(), err: io.err() };
}

/** Completes the last word in a real bash. */
async function complete(...words: readonly string[]): Promise<readonly string[]> {
  const { out } = await run('completion', 'bash');
  const script = `${out}\nCOMP_WORDS=(planwave "$@"); COMP_CWORD=$#; _planwave; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const told = execFileSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' });
  return told.trim().split('\n');
}

describe('init', () => {
  it('writes an agent and a tool that planwave accepts, and a test of the tool that passes', async () => {
    const { code, out } = await run('init', 'mine');
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/cd mine\n {2}node --test/),
    });
    const folder = join(cwd, 'mine');
    expect(readdirSync(folder).toSorted()).toEqual(
      ['.mcp.json', 'agents', 'planwave.env', 'tools.mjs', 'tools.test.mjs'].toSorted(),
    );
    const [agent] = await loadAgents([join(folder, 'agents')]);
    const [tool] = await loadTools(join(folder, 'tools.mjs'));
    expect(agent?.allowed_tools).toContain(tool?.spec.name);
    // npm starts the worker of a checkout in another folder.
    const load = '. ./planwave.env; printf %s "$PLANWAVE_TOOLS:$PLANWAVE_MCP"';
    const loaded = execFileSync('sh', ['-c', load], { cwd: folder, encoding: 'utf8' });
    const place = realpathSync(folder);
    expect(loaded).toBe(`${place}/tools.mjs:${place}/.mcp.json`);
    const told = execFileSync(process.execPath, ['--test'], { cwd: folder, encoding: 'utf8' });
    expect(told).toMatch(/pass 1\b[^]*fail 0\b/);
  });

  it('the command line knows the tools of PLANWAVE_TOOLS when it checks agents, and names a file that it cannot use', async () => {
    const file = join(cwd, 'mine', 'agents', 'stock-keeper.md');
    const text = readFileSync(file, 'utf8');
    const open = (tools: string) => openCliAgents({ PLANWAVE_TOOLS: join(cwd, 'mine', tools) });
    expect(await (await open('tools.mjs')).check(text)).toEqual([]);
    expect(await (await openCliAgents({})).check(text)).toEqual([
      { line: 5, reason: expect.stringContaining('unknown tool "read_stock"') },
    ]);
    await expect(open('none.mjs')).rejects.toThrow(/PLANWAVE_TOOLS can't be used: .*none\.mjs/);
  });

  it.each([
    ['of a checkout', cwd, '  npm run dev\n', '  npm run planwave -- start '],
    [
      'outside of the checkout',
      '/a checkout',
      "  npm --prefix '/a checkout' run dev\n",
      "  npm --prefix '/a checkout' run planwave -- start ",
    ],
    // Beside it, with a name that begins as its name does.
    ['beside the checkout', join(cwd, 'ne'), `  npm --prefix ${join(cwd, 'ne')} run dev\n`, ''],
    ['of the installed package', undefined, '  npm run dev\n', '  npm run planwave -- start '],
  ])('names commands that work in a folder %s', async (title, checkout, dev, start) => {
    const io = createFakeIo();
    const folder = `new ${title}`;
    expect(await runCli(['init', folder], createFakeDeps(io, {}, { cwd, checkout }))).toBe(0);
    expect(io.out()).toContain(dev);
    expect(io.out()).toContain(start);
  });

  it('overwrites nothing', async () => {
    writeFileSync(join(cwd, 'tools.mjs'), 'mine');
    expect(await run('init')).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(
        /has "?tools\.mjs"? already\. Nothing was written\. Try: an empty folder/,
      ),
    });
    expect(readdirSync(cwd)).not.toContain('planwave.env');
  });

  it('names a place where nothing can be written', async () => {
    expect(await run('init', 'tools.mjs')).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(/tools\.mjs can't be written: .*ENOTDIR.* Try: a folder of yours/),
    });
  });
});

describe('completion', () => {
  it.each([
    [['que'], ['questions']],
    [['de'], ['dev']],
    [['plan', 'gr'], ['graph']],
    [['--json', 'start', '--wat'], ['--watch']],
    [['plan', 'graph', 'plan.yaml', '--mer'], ['--mermaid']],
    [['prune', '--dry'], ['--dry-run']],
  ])('completes %j in bash', async (words, expected) => {
    expect(await complete(...words)).toEqual(expected);
  });

  it('offers the same words in fish, and names the shells that it knows', async () => {
    const { out } = await run('completion', 'fish');
    expect(out).toContain(
      "-n '__fish_seen_subcommand_from plan; and __fish_seen_subcommand_from graph' -l mermaid",
    );
    expect((await run('completion', 'zsh')).out).toMatch(/bashcompinit\n/);
    expect((await run('completion', 'tcsh')).err).toMatch(/Try: bash, zsh, fish/);
  });
});
