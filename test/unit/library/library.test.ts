import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { z } from 'zod';
import { loadAgents } from '../../../activities/adapters/agent-files.ts';
import { stat, writeFile } from 'node:fs/promises';
import { createPlanwave } from '../../../library/create-planwave.ts';
import { defineAgent, writeAgents } from '../../../library/define-agent.ts';
import { defineTool } from '../../../library/define-tool.ts';
import { assertCompleted } from '../../../library/testing.ts';
import { describeSchema, readAnswer, UnfitAnswer } from '../../../library/typed-answer.ts';
import { readFolders } from '../../../worker/worker-settings.ts';

const home = mkdtempSync(join(tmpdir(), 'planwave-library-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const expert = {
  name: 'tax-expert',
  description: 'Knows taxes: "VAT", too.\nNot for prices.',
  prompt: '# Role: tax-expert\n\n--- \nRead first.',
  tools: ['load_detail'],
  capabilities: ['tax', 'law: national'],
  model: 'claude-opus-4-8',
} as const;

describe('defineAgent', () => {
  it('writes a file that is read back as it was defined', async () => {
    const folder = await writeAgents(home, [
      defineAgent({ ...expert, tools: ['load_detail'], capabilities: [...expert.capabilities] }),
    ]);
    const [agent] = await loadAgents([folder]);
    expect(agent).toMatchObject({
      agent_id: 'tax-expert',
      allowed_tools: ['load_detail'],
      capabilities: expert.capabilities,
      model: expert.model,
      prompt: expert.prompt,
    });
    expect(agent?.description).toMatch(/Knows taxes: "VAT", too\.\s+Not for prices\./);
    expect(readFileSync(join(folder, 'tax-expert.md'), 'utf8')).toMatch(/^---\nname: tax-expert\n/);
  });

  it('gives equal agents one folder, and other agents another', async () => {
    const one = defineAgent({ name: 'a', description: 'A.', prompt: 'P' });
    const two = defineAgent({ name: 'b', description: 'B.', prompt: 'P' });
    expect(await writeAgents(home, [one, two])).toBe(await writeAgents(home, [two, one]));
    expect(await writeAgents(home, [one])).not.toBe(await writeAgents(home, [two]));
  });

  it('leaves an equal file alone, and replaces another one as a whole', async () => {
    const agents = [defineAgent({ name: 'c', description: 'C.', prompt: 'P' })];
    const file = join(await writeAgents(home, agents), 'c.md');
    const first = await stat(file);
    await writeAgents(home, agents);
    const second = await stat(file);
    expect([second.ino, second.mtimeMs]).toEqual([first.ino, first.mtimeMs]);
    await writeFile(file, 'damaged');
    await writeAgents(home, agents);
    expect(readFileSync(file, 'utf8')).toBe(agents[0]?.text);
    // Another file has the name: one that is being read stays as it is.
    expect((await stat(file)).ino).not.toBe(first.ino);
    expect(readdirSync(join(file, '..'))).toEqual(['c.md']);
  });

  it('writes where a worker may read, also one with other folders for agents', async () => {
    const folder = await writeAgents(home, [
      defineAgent({ name: 'd', description: 'D.', prompt: 'P' }),
    ]);
    const { agentRoots } = readFolders({ PLANWAVE_HOME: home, PLANWAVE_AGENTS: '/elsewhere' });
    await expect(loadAgents([folder], { roots: agentRoots })).resolves.toHaveLength(1);
  });

  it('names each wrong field', () => {
    const wrong = { name: 'Tax Expert', description: '', prompt: 'P', tool: [] };
    expect(() => defineAgent(wrong)).toThrow(/"tool"[^]*tax-expert[^]*description/);
    expect(() => defineAgent(wrong)).toThrow('"tool". Did you mean "tools"?');
  });
});

describe('defineTool', () => {
  const good = {
    name: 'read_stock',
    description: 'Reads the stock.',
    schema: z.strictObject({}),
    effect: 'acting',
    brings: [],
    run: () => '',
  } as const;

  it('returns a tool as it is', () => {
    expect(defineTool(good)).toBe(good);
  });

  it('names each wrong field', () => {
    const wrong = { ...good, name: 'Read stock', aproval: 'always' };
    const define = () => defineTool(wrong);
    expect(define).toThrow(TypeError);
    expect(define).toThrow(
      /^defineTool: "Read stock": name: expected [^]*\ndefineTool: "Read stock": unknown field "aproval"\. Did you mean "approval"\?$/,
    );
  });
});

describe('a start with a wrong field or value is refused at once, and nothing is written or sent', () => {
  const untouched = join(home, 'untouched');
  const planwave = createPlanwave({ home: untouched });
  afterAll(() => planwave.close());
  const agent = defineAgent({ name: 'a', description: 'A.', prompt: 'P' });

  it.each([
    [{ budgt: { usd: 1 } }, 'the input: unknown field "budgt". Did you mean "budget"?'],
    [{ limits: { max_wave: 3 } }, 'limits: unknown field "max_wave". Did you mean "max_waves"?'],
    [{ agent: [agent] }, 'the input: unknown field "agent". Did you mean "agents"?'],
    [{ mode: 'design' }, 'mode: expected one of "direct", "designed", "auto"'],
    [
      { agents: [{ name: 'a', prompt: 'P' }] },
      'agents: expected agents of defineAgent, or the path',
    ],
    [
      { agents: [agent], result: { type: 'object' } },
      'result: expected a schema of zod 4. Try: z.',
    ],
    [
      { agents: [agent, defineAgent({ name: 'a', description: 'Other.', prompt: 'Q' })] },
      'agents: "a" is the name of two agents, expected a name of its own for each. Try: ',
    ],
    [{ run_id: 'My run', agents: [agent] }, 'run id "My run": expected 1 to 40 lower-case letters'],
  ])('%j', async (options, words) => {
    // As a program without types gives them.
    const start = planwave.start('Compare three databases', Object(options));
    await expect(start).rejects.toMatchObject({
      name: 'PlanwaveClientError',
      code: 'bad_input',
      message: expect.stringContaining(words),
    });
    expect(() => readdirSync(untouched)).toThrow(/ENOENT/);
  });

  it.each([
    ['values that JSON does not have', z.object({ at: z.date() }), /^result: .* Try: z\.iso/],
    [
      '80 described fields',
      z.object(
        Object.fromEntries(
          Array.from({ length: 80 }, (_, nth) => [
            `field_${nth}`,
            z.string().describe('What the field is about.'),
          ]),
        ),
      ),
      /^result: expected a schema that fits into one constraint .* has \d,\d{3} char.* Try: short/,
    ],
  ])('a result schema of %s', async (_of, result, message) => {
    await expect(
      planwave.start('Compare three databases', { agents: [agent], result }),
    ).rejects.toMatchObject({
      name: 'PlanwaveClientError',
      code: 'bad_input',
      message: expect.stringMatching(message),
    });
    expect(() => readdirSync(untouched)).toThrow(/ENOENT/);
  });

  it('all faults at once, also with the client alone, and of teams and schedules', async () => {
    const { client } = planwave;
    const faults = /goal: expected a goal.*criteria: expected a.*"workspace".*"workspace_dir"/;
    const input = Object({ goal: ' ', criteria: 'all', workspace: '.' });
    await expect(client.startRun(input)).rejects.toThrow(faults);
    const when = { every_seconds: 60 };
    const schedule = { schedule_id: 'nightly', input, when };
    await expect(client.schedules.create(schedule)).rejects.toThrow(faults);
    const team = Object({ message: 'Compare', member: ['writer'] });
    await expect(client.startTeam(team)).rejects.toThrow(
      'The input of the team is not valid. the input: unknown field "member". Did you mean "members"?',
    );
  });

  it('and so is an unknown option of createPlanwave', () => {
    expect(() => createPlanwave(Object({ namspace: 'prod' }))).toThrow(
      'createPlanwave: unknown field "namspace". Did you mean "namespace"?',
    );
  });
});

it('an empty PLANWAVE_HOME is not set: the home is .planning, not the current folder', async () => {
  const before = { folder: process.cwd(), home: process.env['PLANWAVE_HOME'] };
  const folder = mkdtempSync(join(home, 'empty-'));
  process.chdir(folder);
  process.env['PLANWAVE_HOME'] = '';
  try {
    const agents = [defineAgent({ name: 'a', description: 'A.', prompt: 'P' })];
    // The agents are written before the server is asked, which does not answer.
    const connection = Connection.lazy({ address: '127.0.0.1:1', connectTimeout: 100 });
    const starting = createPlanwave({ connection }).start('Goal', { agents });
    await expect(starting).rejects.toThrow('127.0.0.1:1');
    expect(readdirSync(folder)).toEqual(['.planning']);
  } finally {
    process.chdir(before.folder);
    if (before.home === undefined) delete process.env['PLANWAVE_HOME'];
    else process.env['PLANWAVE_HOME'] = before.home;
  }
});

it('an empty list of agents is none', async () => {
  const connection = Connection.lazy({ address: '127.0.0.1:1', connectTimeout: 100 });
  const place = mkdtempSync(join(home, 'none-'));
  const starting = createPlanwave({ connection, home: place }).start('Goal', { agents: [] });
  await expect(starting).rejects.toThrow('127.0.0.1:1');
  expect(readdirSync(place)).toEqual([]);
});

describe('a typed answer', () => {
  const schema = z.object({ articles: z.array(z.string()) });

  it.each([
    ['{"articles":["A"]}'],
    ['```json\n{"articles":["A"]}\n```'],
    ['Here it is:\n\n```\n{"articles":["A"]}\n```\n\nThat is all.'],
  ])('is read from %j', (answer) => {
    expect(readAnswer('run-1', answer, schema)).toEqual({ articles: ['A'] });
  });

  it.each([
    ['twelve articles', /run-1 does not fit the schema: it is no JSON document/],
    ['{"articles":[17]}', /expected string[^]*articles\[0\]/],
  ])('that does not fit is refused with the reason, and is not lost: %s', (answer, reason) => {
    const read = () => readAnswer('run-1', answer, schema);
    expect(read).toThrow(UnfitAnswer);
    expect(read).toThrow(reason);
    expect(read).toThrow(expect.objectContaining({ answer }));
  });

  it('that the run returned in part is read whole below the home, and else names its place', async () => {
    const whole = JSON.stringify({ articles: ['A'.repeat(30_000), '\n---\n'] }, null, 2);
    const cut = `${whole.slice(0, 100)}…\n\n… ${whole.length} characters in all; the whole is in run-1/result.md`;
    const planwave = createPlanwave({ home });
    Object.assign(planwave.client, {
      startRun: async () => ({ run_id: 'run-1' }),
      describe: async () => ({ run_id: 'run-1', phase: 'completed' }),
      waitForEnd: async () => ({
        ended: 'result',
        result: {
          status: 'completed',
          answer: cut,
          result_path: 'run-1/result.md',
          report_path: '',
        },
      }),
    });
    const run = await planwave.start('List the articles', { result: schema });
    const page = join(home, 'run-1', 'result.md');
    mkdirSync(join(home, 'run-1'));
    // One is missing; the other is of another answer.
    for (const text of [null, '# Result\n\n---\n\nOther\n']) {
      if (text !== null) writeFileSync(page, text);
      // oxlint-disable-next-line no-await-in-loop
      await expect(run.result()).rejects.toMatchObject({
        name: 'UnfitAnswer',
        answer: cut,
        message: expect.stringMatching(
          /was cut at 20,?000; the whole is in run-1\/result\.md.*Try: /,
        ),
      });
    }
    writeFileSync(page, `# Result: List\n\n- **Status:** Completed\n\n---\n\n${whole}\n`);
    const outcome = await run.result();
    expect(outcome.value).toEqual(JSON.parse(whole));
    expect(outcome.answer).toBe(whole);
    await planwave.close();
  });

  it('of values that JSON does not have is refused with what to try', () => {
    expect(() => describeSchema(z.object({ at: z.date() }))).toThrow(
      /^result: expected .* Try: z\.iso\.datetime\(\)/,
    );
  });

  it('is described to the planner by its JSON Schema', () => {
    expect(describeSchema(schema)).toContain('"articles":{"type":"array"');
  });
});

it('assertCompleted shows the criteria that are open', () => {
  const outcome = {
    status: 'finished_unmet',
    reason: 'the user said so',
    answer: '',
    value: undefined,
  };
  expect(() => assertCompleted({ ...outcome, result: null })).toThrow(/finished_unmet/);
});
