import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePlanFile } from '../../../client/cli/commands/plan-file.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import type { CliAgents } from '../../../client/cli/cli-deps.ts';
import type { NewAgent } from '../../../contracts/coordination-plan.ts';
import { createCliAgents, openCliAgents } from '../../../scripts/cli-agents.ts';
import { samplePlan } from '../../support/plans.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';
import type { FakeIo } from './support/fake-io.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'planwave-agents-'));
  mkdirSync(join(cwd, 'mine'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const openSession = (): Promise<never> => Promise.reject(new Error('must not connect'));

async function run(
  argv: readonly string[],
  io: FakeIo = createFakeIo(),
  agents: CliAgents = createCliAgents(),
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const deps = createFakeDeps(io, {}, { cwd, agents, openSession });
  const code = await runCli(['agents', ...argv], deps);
  return { code, out: io.out(), err: io.err() };
}

const save = (name: string, text: string): void => writeFileSync(join(cwd, name), text);

const poet = '---\nname: poet\ndescription: Writes poems.\ntools: read_file\n---\nWrite poems.\n';

describe('planwave agents list and show', () => {
  it('lists shipped and own agents, and shows one with its prompt', async () => {
    save('mine/poet.md', poet);
    save('mine/writer.md', poet.replace('poet', 'writer'));
    const { code, out } = await run(['list', '--agents', 'mine']);
    expect(code).toBe(0);
    expect(out).toMatch(/^poet +own +low +read_file +Writes poems\.$/m);
    expect(out).toMatch(/^writer +own /m);
    expect(out).toMatch(/^reviewer +shipped /m);
    expect(await run(['show', 'poet', '--agents', 'mine'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^poet \(own, risk low\)\nWrites poems\.\n[^]*\nWrite poems\.\n$/),
    });
  });

  it('an unknown agent is named with those that there are', async () => {
    const { code, err } = await run(['show', 'poet']);
    expect(code).toBe(4);
    expect(err).toMatch(/There is no agent "poet"\. Agents are: .*"writer"/);
  });
});

describe('planwave agents check', () => {
  it('a good file and a good folder have no fault', async () => {
    save('mine/poet.md', poet);
    expect(await run(['check', 'mine'])).toMatchObject({
      code: 0,
      out: 'mine: 1 file, no fault.\n',
    });
    expect(await run(['check', 'mine/poet.md'])).toMatchObject({ code: 0 });
  });

  it.each(['mine', 'mine/poet.md'])('faults in %s have file and line', async (path) => {
    save('mine/poet.md', poet.replace('read_file', 'read_files').replace('description', 'about'));
    const { code, out } = await run(['check', path]);
    expect(code).toBe(1);
    expect(out).toMatch(/mine\/poet\.md:3: unknown key "about"/);
    expect(out).toMatch(/mine\/poet\.md:4: unknown tool "read_files": did you mean "read_file"\?/);
  });
});

const granting = (tool: string): string => poet.replace('read_file', tool);
const check = async (path: string, env: NodeJS.ProcessEnv) =>
  run(['check', path], createFakeIo(), await openCliAgents(env));

describe('planwave agents check knows the tools that this shell gives a worker', () => {
  it.each(['mine', 'mine/poet.md'])('%s: fetch_page needs a host', async (path) => {
    save('mine/poet.md', granting('read_file, fetch_page'));
    const { code, out } = await check(path, {});
    expect(code).toBe(1);
    expect(out).toMatch(
      /mine\/poet\.md:4: .* does not have "fetch_page": no host is allowed\. Try: PLANWAVE_WEB_HOSTS=.*\n1 fault\.\n$/,
    );
    expect(await check(path, { PLANWAVE_WEB_HOSTS: 'nodejs.org' })).toMatchObject({ code: 0 });
    expect(
      await check(path, { PLANWAVE_WEB_HOSTS: 'nodejs.org', PLANWAVE_WEB: 'off' }),
    ).toMatchObject({ code: 1, out: expect.stringContaining('PLANWAVE_WEB=on') });
  });

  it.each(['mine', 'mine/poet.md'])('%s: an MCP grant needs its server', async (path) => {
    save('mine/poet.md', granting('mcp__github__search'));
    save('mcp.json', '{"mcpServers":{"gitlab":{"command":"node"}}}');
    const { code, out } = await check(path, { PLANWAVE_MCP: join(cwd, 'mcp.json') });
    // The agent goes without it, so a run starts.
    expect(code).toBe(0);
    expect(out).toMatch(
      /mine\/poet\.md:4: the agent goes without "mcp__github__search": no file of PLANWAVE_MCP in this shell has the server "github"\. Servers are: "gitlab"\n.*no fault\.\n$/,
    );
    save('mcp.json', '{"mcpServers":{"github":{"command":"node"}}}');
    const good = await check(path, { PLANWAVE_MCP: join(cwd, 'mcp.json') });
    expect(good.out).toBe(`${path}: 1 file, no fault.\n`);
  });
});

describe('planwave agents add', () => {
  const draft: NewAgent = {
    agent_id: 'tester',
    description: 'Tests: all of it.',
    capabilities: ['testing'],
    tools: ['read_file'],
    risk_level: 'medium',
    prompt: '# Role\n\nTest.',
  };

  it('drafts of a plan are shown and written after a yes', async () => {
    save('plan.yaml', writePlanFile(samplePlan({ new_agents: [draft] })));
    const io = createFakeIo({ isTerminal: true });
    io.typeAfter('Enter alone: no)\n> ', 'yes');
    const { code, out } = await run(['add', 'plan.yaml', '--to', 'new'], io);
    expect(code).toBe(0);
    expect(out.indexOf('# Role\n\nTest.')).toBeLessThan(out.indexOf('Write 1 file into'));
    expect(readFileSync(join(cwd, 'new/tester.md'), 'utf8')).toMatch(/^---\nname: tester\n/);
    expect(await run(['check', 'new'])).toMatchObject({ code: 0 });
    expect((await run(['show', 'tester', '--agents', 'new', '--json'])).out).toContain(
      '"description":"Tests: all of it."',
    );
  });

  it('nothing is written without a yes, and no file is replaced', async () => {
    save('poet.md', poet);
    const io = createFakeIo({ isTerminal: true });
    io.typeAfter('Enter alone: no)\n> ', '');
    expect((await run(['add', 'poet.md', '--to', 'mine'], io)).out).toMatch(
      /Nothing was written\.\n$/,
    );
    expect(existsSync(join(cwd, 'mine/poet.md'))).toBe(false);
    const piped = await run(['add', 'poet.md', '--to', 'mine']);
    expect(piped).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
    expect(await run(['add', 'poet.md', '--to', 'mine', '--yes'])).toMatchObject({ code: 0 });
    const again = await run(['add', 'poet.md', '--to', 'mine', '--yes']);
    expect(again).toMatchObject({ code: 2, err: expect.stringContaining('exists already') });
  });

  it.each([
    [
      'a faulty draft',
      writePlanFile(samplePlan({ new_agents: [{ ...draft, tools: ['fly'] }] })),
      /unknown tool "fly"/,
    ],
    ['a plan without drafts', writePlanFile(samplePlan()), /drafts no agents/],
    ['something else', 'just words', /neither an agent's file nor a plan/],
    [
      'a file without a plain name',
      poet.replace('name: poet', 'name: The Poet'),
      /expected a line "name: …"/,
    ],
  ])('%s is refused', async (_name, text, why) => {
    save('file', text);
    const { code, err } = await run(['add', 'file', '--to', 'mine', '--yes']);
    expect(code).toBe(2);
    expect(err).toMatch(why);
    expect(existsSync(join(cwd, 'mine/tester.md'))).toBe(false);
  });
});
