import * as fc from 'fast-check';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import type { CliDeps } from '../../../client/cli/cli-deps.ts';
import {
  createPlanSchema,
  readPlanFile,
  writePlanFile,
} from '../../../client/cli/commands/plan-file.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { createCliAgents } from '../../../scripts/cli-agents.ts';
import { matchAll, read } from '../../architecture/repository.ts';
import { samplePlan, withTask } from '../../support/plans.ts';
import { createFakeClient, createFakeDeps, notFound } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'planwave-plan-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const openSession = (): Promise<never> => Promise.reject(new Error('must not connect'));

async function run(
  argv: readonly string[],
  others: Partial<CliDeps> = {},
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const io = createFakeIo();
  const deps = createFakeDeps(io, {}, { cwd, agents: createCliAgents(), openSession, ...others });
  const code = await runCli(argv, deps);
  return { code, out: io.out(), err: io.err() };
}

/** Runs a plan on a server that only keeps what is started. */
async function start(argv: readonly string[]) {
  const started: object[] = [];
  const client = createFakeClient({
    startRun: (input, options) => {
      started.push({ input, run_id: options?.run_id });
      return Promise.resolve({ run_id: 'tea' });
    },
  });
  const session = { client, address: 'temporal.test:7233', namespace: 'default', close };
  const connection = Connection.lazy();
  const outcome = await run(['plan', 'run', ...argv], {
    openSession: () => Promise.resolve({ ...session, connection }),
  });
  return { ...outcome, started };
}

const close = (): Promise<void> => Promise.resolve();

const save = (name: string, text: string): void => writeFileSync(join(cwd, name), text);

/** A plan as a person types it: everything that may be left out is. */
const typed = `task_name: haiku
goal: A haiku about tea.
summary: One poem.
agents:
  - agent_name: poet
    role: doer
    responsibility: Writes.
    agent_id: writer
  - agent_name: critic
    role: verifier
    responsibility: Counts.
    agent_id: reviewer
tasks:
  - task_id: poem_1727539200
    title: Write it
    agent: poet
    instructions: |
      Write a haiku about tea.
    outputs:
      - path: agents/poet/task_output/poem.md
        format: Markdown, three lines
    validation:
      verified_by: critic
      evidence:
        - evidence_id: form
          description: The lines have 5, 7 and 5 syllables.
escalation:
  - Ask the user.
`;

describe('the file of a plan', () => {
  it('a plan is the same after it was written and read', () => {
    const text = writePlanFile(samplePlan({ goal: 'Line one.\n\n- "two": #3\n' }));
    expect(text).toMatch(/^# Plan of planwave/);
    expect(text).toMatch(/\n# Assumptions that the plan relies on\..*\nrisks:/);
    expect(readPlanFile(text).plan).toEqual(samplePlan({ goal: 'Line one.\n\n- "two": #3\n' }));
  });

  it('whatever its texts are, a plan is the same after it was written and read', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), (text) => {
        const plan = samplePlan({ goal: text, summary: `${text}\n  ${text}\n` });
        expect(readPlanFile(writePlanFile(plan)).plan).toEqual(plan);
      }),
      { examples: [['\n'], [' '], ['  ']] },
    );
  });

  it('ends of lines, blank lines and lines of spaces are the same after they were written and read', () => {
    const parts = ['\n', '\r\n', ' ', '  ', '\t', 'word', 'a: b # c', '"', '\\', 'x'.repeat(95)];
    const texts = fc
      .array(fc.constantFrom(...parts), { minLength: 1, maxLength: 14 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        const plan = samplePlan({ goal: text, summary: `${text} ${text}`, escalation: [text] });
        expect(readPlanFile(writePlanFile(plan)).plan).toEqual(plan);
      }),
      { examples: [['The goal of the plan is long enough\r\n \r\n\n \n\nword']] },
    );
  });

  it('what is empty or usual may be left out, and JSON is read too', () => {
    const { plan } = readPlanFile(typed);
    expect(plan).toMatchObject({
      version: 1,
      max_parallel: 4,
      new_agents: [],
      risks: [],
      tasks: [{ inputs: [], depends_on: [], proof_of_concept: null }],
    });
    expect(readPlanFile(`\uFEFF${JSON.stringify(plan)}`).plan).toEqual(plan);
  });

  it('aliases that would expand without end are refused', () => {
    const levels = Array.from({ length: 12 }, (_, at) =>
      at === 0 ? 'a0: &a0 [x, x, x, x, x]' : `a${at}: &a${at} [${`*a${at - 1}, `.repeat(9)}x]`,
    );
    expect(readPlanFile(levels.join('\n'))).toMatchObject({
      plan: null,
      findings: [{ rule: 'yaml' }],
    });
  });

  it('an alias that contains itself is refused', () => {
    const text = typed.replace('escalation:\n  - Ask the user.', 'escalation: &all [*all]');
    expect(readPlanFile(text)).toMatchObject({
      plan: null,
      findings: [{ rule: 'yaml', message: 'An alias contains itself' }],
    });
  });

  it('the JSON Schema in the documents is current', () => {
    // Cure: npm run --silent planwave -- plan schema > docs/plan.schema.json
    expect(JSON.parse(read('docs/plan.schema.json'))).toEqual(
      JSON.parse(JSON.stringify(createPlanSchema())),
    );
  });
});

describe('planwave plan check', () => {
  it('the plan in the documents has no finding', async () => {
    const [plan = ''] = matchAll(read('docs/plans.md'), /^```yaml\n(task_name[^]*?)^```$/gm);
    save('plan.yaml', plan);
    expect(await run(['plan', 'check', 'plan.yaml'])).toMatchObject({
      code: 0,
      out: 'plan.yaml: 2 tasks, 3 agents, no finding.\n',
    });
    // The finding that the page shows for it.
    save('plan.yaml', plan.replace('verified_by: review_agent', 'verified_by: fact_agent'));
    const { out } = await run(['plan', 'check', 'plan.yaml']);
    expect(read('docs/plans.md')).toContain(out.split('\n', 1)[0]);
  });

  it('a plan of shipped agents has no finding', async () => {
    save('plan.yaml', typed);
    expect(await run(['plan', 'check', 'plan.yaml'])).toEqual({
      code: 0,
      out: 'plan.yaml: 1 task, 2 agents, no finding.\n',
      err: '',
    });
  });

  it.each([
    [
      'a syntax error',
      'goal: A haiku',
      'goal: A: haiku',
      /^plan\.yaml:2:7: this is no YAML/,
      'yaml',
    ],
    ['a wrong type', 'summary: One poem.', 'summary: [1]', /^plan\.yaml:3:1: summary: /, 'schema'],
    [
      'an unknown field',
      '    agent: poet',
      '    actor: poet',
      /:16:5: unknown field "actor"/,
      'schema',
    ],
    ['a missing field', '    agent: poet\n', '', /:14:5: tasks\.0\.agent: missing/, 'schema'],
    [
      'a fault of the plan',
      'verified_by: critic',
      'verified_by: poet',
      /:23:7: "poet" would/,
      'DP23',
    ],
    ['an unknown agent', 'agent_id: writer', 'agent_id: poet', /:8:5: no agent "poet"/, 'DP3'],
  ])('%s is shown with line and column', async (_name, before, after, shown, rule) => {
    save('plan.yaml', typed.replace(before, after));
    const { code, out } = await run(['plan', 'check', 'plan.yaml']);
    expect(code).toBe(1);
    expect(out).toMatch(shown);
    expect(out).toContain(`(${rule})\n`);
    const { out: json } = await run(['plan', 'check', 'plan.yaml', '--json']);
    expect(JSON.parse(json)).toMatchObject({ ok: false, file: 'plan.yaml' });
    expect(json).toContain(`"rule":"${rule}"`);
  });

  it('a tab as an indentation is the only finding behind it', async () => {
    const faulty = typed.replace('goal: A haiku', 'goal: A: haiku').replaceAll('\n    ', '\n\t');
    save('plan.yaml', faulty);
    const { code, out } = await run(['plan', 'check', 'plan.yaml']);
    expect(code).toBe(1);
    expect(out.trimEnd().split('\n')).toEqual([
      expect.stringMatching(
        /^plan\.yaml:2:7: this is no YAML: .*Mend the indentation, or .*\(yaml\)$/,
      ),
      'plan.yaml:6:1: this is no YAML: Tabs are not allowed as indentation. Try: Indent with spaces (yaml)',
      "2 findings. The plan can't run like this.",
    ]);
  });

  it('drafts are checked as agents are, and own agents count', async () => {
    const draft = { description: 'Tests.', capabilities: [], risk_level: 'low' as const };
    const drafts = [{ ...draft, agent_id: 'tester', tools: ['fly'], prompt: 'Test.' }];
    save('plan.yaml', writePlanFile(samplePlan({ new_agents: drafts })));
    const { out } = await run(['plan', 'check', 'plan.yaml']);
    expect(out).toMatch(/the draft of "tester" is no agent: unknown tool "fly"/);
    save('poet.md', '---\nname: poet\ndescription: Writes poems.\n---\nWrite.\n');
    save('own.yaml', typed.replace('agent_id: writer', 'agent_id: poet'));
    expect(await run(['plan', 'check', 'own.yaml', '--agents', '.'])).toMatchObject({ code: 0 });
  });

  it('agents that can not be read are named with the command that checks them', async () => {
    mkdirSync(join(cwd, 'broken'));
    save('broken/poet.md', 'Write.');
    save('plan.yaml', writePlanFile(samplePlan()));
    const { code, err } = await run(['plan', 'check', 'plan.yaml', '--agents', 'broken']);
    expect(code).toBe(2);
    expect(err).toMatch(
      /The agents can't be read\..* Try: npm run planwave -- agents check broken\n/,
    );
  });

  it('a missing file is bad input', async () => {
    const { code, err } = await run(['plan', 'check', 'none.yaml']);
    expect(code).toBe(2);
    expect(err).toMatch(/can't be read/);
  });
});

const readPlan: CliDeps['readPlan'] = (runId) =>
  runId === 'shop' ? Promise.resolve(samplePlan()) : Promise.resolve(null);

describe('planwave plan run', () => {
  it('starts a run with the goal and the tasks of the file, and the settings of the command line', async () => {
    save('plan.yaml', typed);
    const settings = ['--id', 'tea', '--budget-calls', '9', '--workspace', 'src', '--no-teams'];
    const { code, out, started } = await start(['plan.yaml', ...settings]);
    expect(code).toBe(0);
    expect(out).toMatch(/^Started tea\.\nWatch it with: .*watch tea\n$/);
    const { plan } = readPlanFile(typed);
    const input = { goal: 'A haiku about tea.', plan, teams: false };
    const places = { budget: { calls: 9 }, workspace_dir: join(cwd, 'src') };
    expect(started).toEqual([{ run_id: 'tea', input: { ...input, ...places } }]);
  });

  it('starts nothing for a plan with a finding, which it shows as the check does', async () => {
    save('plan.yaml', typed.replace('verified_by: critic', 'verified_by: poet'));
    const { started, ...outcome } = await start(['plan.yaml']);
    expect(started).toEqual([]);
    expect(outcome).toMatchObject({ code: 1, out: expect.stringContaining('(DP23)\n') });
    expect(outcome).toEqual(await run(['plan', 'check', 'plan.yaml']));
    save('plan.yaml', 'goal: only\n');
    expect(await start(['plan.yaml', '--no-check'])).toMatchObject({ code: 1, started: [] });
  });

  it('leaves the agents to the worker with --no-check', async () => {
    save('plan.yaml', typed.replace('agent_id: writer', 'agent_id: elsewhere'));
    expect(await start(['plan.yaml'])).toMatchObject({ code: 1, started: [] });
    const { code, started } = await start(['plan.yaml', '--no-check']);
    expect({ code, count: started.length }).toEqual({ code: 0, count: 1 });
  });
});

describe('planwave plan export, diff, graph and schema', () => {
  it('the plan of a run is exported, and can be changed and compared with it', async () => {
    expect(await run(['plan', 'export', 'shop', '--out', 'plan.yaml'], { readPlan })).toMatchObject(
      { code: 0 },
    );
    expect(await run(['plan', 'diff', 'shop', 'plan.yaml'], { readPlan })).toMatchObject({
      code: 0,
      out: 'The plans are equal.\n',
    });
    save('plan.yaml', writePlanFile(withTask(3, () => ({ title: 'Manual' }))));
    const { out } = await run(['plan', 'diff', 'shop', 'plan.yaml'], { readPlan });
    expect(out).toBe('changed tasks/docs_1727539200/title\n- Do docs\n+ Manual\n');
  });

  it('versions of the plan of a scheduled run are compared and drawn by its name', async () => {
    const scheduled = 'nightly-2026-11-26T18:00:00Z';
    const asked: unknown[] = [];
    const readVersion: CliDeps['readPlan'] = (...version) => {
      asked.push(version);
      return Promise.resolve(samplePlan());
    };
    const deps = { readPlan: readVersion };
    const versions = [`${scheduled}@1`, `${scheduled}@2`];
    expect(await run(['plan', 'diff', ...versions], deps)).toMatchObject({
      code: 0,
      out: 'The plans are equal.\n',
    });
    expect(await run(['plan', 'graph', scheduled, '--mermaid'], deps)).toMatchObject({ code: 0 });
    expect(asked).toEqual([
      [scheduled, 1],
      [scheduled, 2],
      [scheduled, undefined],
    ]);
  });

  it('a run without a plan, and one that does not exist, are named', async () => {
    const { code, err } = await run(['plan', 'export', 'direct'], { readPlan });
    expect(code).toBe(4);
    expect(err).toMatch(/Run direct has no coordination plan/);
    const unknown = await run(['plan', 'graph', 'ghost'], {
      readPlan: () => Promise.reject(notFound()),
    });
    expect(unknown.code).toBe(4);
  });

  it('graphs are SVG or Mermaid, in a file or printed', async () => {
    save('plan.yaml', typed);
    await run(['plan', 'graph', 'plan.yaml', '--out', 'plan.svg']);
    expect(readFileSync(join(cwd, 'plan.svg'), 'utf8')).toMatch(/^<svg [^]*Write it[^]*<\/svg>\n$/);
    const { out } = await run(['plan', 'graph', 'plan.yaml', '--mermaid']);
    expect(out).toBe('flowchart TD\n  t1["Write it<br/>poet"]\n');
    const { code, err } = await run(['plan', 'graph', 'plan.yaml', '--out', 'no/plan.svg']);
    expect(code).toBe(2);
    expect(err).toMatch(/can't be written/);
    save('bad.yaml', typed.replace('goal:', 'aim:'));
    const bad = await run(['plan', 'graph', 'bad.yaml']);
    expect(bad.code).toBe(2);
    expect(bad.err).toMatch(/bad\.yaml:2:1: unknown field "aim"/);
  });

  it('the schema is JSON', async () => {
    const { out } = await run(['plan', 'schema']);
    expect(JSON.parse(out)).toMatchObject({ title: 'Coordination plan of planwave' });
  });
});
