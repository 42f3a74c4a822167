import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TeamInput } from '../../../contracts/team.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { createTeamPrinter } from '../../../client/cli/follow/presenter.ts';
import { PlanwaveClientError } from '../../../client/client-error.ts';
import { createPaint } from '../../../client/cli/terminal-text.ts';
import { defaultTeam } from '../../../core/limits.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';
import { listing, question } from './support/samples.ts';
import { closed, endOfTeam, look, task, team, writing } from './support/team-samples.ts';

const cwd = mkdtempSync(join(tmpdir(), 'planwave-team-'));
const writeJson = (name: string, value: unknown): void =>
  writeFileSync(join(cwd, name), JSON.stringify(value));
const studio = { team_id: 'studio', members: [{ id: 'writer' }] };
writeJson('team.json', { members: ['critic'], timeout: 60, limits: { max_turns: 9 } });
writeJson('named.json', [studio]);
writeJson('two.json', [studio, { ...studio, team_id: 'lab' }]);
writeJson('jury.json', {
  members: [{ id: 'jury', triad: { type: 'consensus', why: 'Three views.' } }],
});
writeJson('broken.json', { members: [], typo: 1 });
afterAll(() => rmSync(cwd, { recursive: true }));

async function run(argv: readonly string[], methods: Partial<PlanwaveClient> = {}) {
  const io = createFakeIo();
  const inputs: TeamInput[] = [];
  const startTeam: PlanwaveClient['startTeam'] = (input) => {
    inputs.push(input);
    return Promise.resolve({ run_id: 'bread' });
  };
  const deps = createFakeDeps(io, { startTeam, ...methods }, { cwd });
  const code = await runCli(['team', ...argv], deps);
  return { code, out: io.out(), err: io.err(), input: inputs[0] };
}

it('finding P8: its help names the default time limits of a team', async () => {
  const { out } = await run(['--help']);
  const words = out.replaceAll(/\s+/gu, ' ');
  expect(words).toContain(`working time of the whole team; default: ${defaultTeam.timeout}`);
  expect(words).toContain(`working time per task; default: ${defaultTeam.member_timeout}`);
});

const done = closed(team({ state: 'done' }, [task('d1', { state: 'completed' })]));
const ended: Partial<PlanwaveClient> = {
  team: () => Promise.resolve(done),
  describe: () => Promise.resolve(done.run),
  result: () => Promise.resolve(endOfTeam()),
};

describe('the input', () => {
  it('takes message, members and settings', async () => {
    const { input, out, code } = await run(
      'Bake --members researcher,,writer --parallel --max-parallel 2 --max-delegations 4 --timeout 90 --member-timeout 30 --max-retries 0 --model big --leader boss --thread t1 --user ann --instructions Short. --criterion Good. --budget-usd 2 --max-turns 7 --defaults --detach'
        .split(' ')
        .map((word) => word.replace(',,', ', ')),
    );
    expect([code, out]).toEqual([
      0,
      'Started bread.\nWatch it with: npm run planwave -- watch bread\n',
    ]);
    expect(input).toEqual({
      message: 'Bake',
      members: ['researcher', 'writer'],
      allow_parallel: true,
      max_retries: 0,
      model: 'big',
      max_parallel: 2,
      max_delegations: 4,
      timeout: 90,
      member_timeout: 30,
      leader: 'boss',
      thread_id: 't1',
      user_id: 'ann',
      instructions: 'Short.',
      acceptance_criteria: ['Good.'],
      budget: { usd: 2 },
      limits: { max_turns: 7 },
      use_defaults: true,
    });
  });

  it('takes a file, and over it what was given', async () => {
    const { input } = await run([
      'Bake',
      '--team-file',
      'team.json',
      '--timeout',
      '90',
      '--max-output-tokens',
      '500',
      '--detach',
    ]);
    expect(input).toEqual({
      message: 'Bake',
      members: ['critic'],
      timeout: 90,
      limits: { max_turns: 9, max_output_tokens: 500 },
    });
  });

  it('takes teams with names: the only one, or the one that is named', async () => {
    const only = await run(['Bake', '--team-file', 'named.json', '--detach']);
    expect(only.input).toEqual({ message: 'Bake', team_id: 'studio', teams: [studio] });
    const one = await run(['Bake', '--team-file', 'two.json', '--team', 'lab', '--detach']);
    expect(one.input).toMatchObject({ team_id: 'lab' });
    const own = await run(['Bake', '--team-file', 'two.json', '--members', 'boss', '--detach']);
    expect(own.input).toMatchObject({ members: ['boss'], teams: [{}, {}] });
  });

  it.each([
    [[], /^A message is missing\. Try: npm run planwave -- team /],
    [['Bake'], /^The team has no members\. Try: npm run planwave -- team .*--members researcher/],
    [
      ['Bake', '--team-file', 'two.json'],
      /^The file has 2 teams: studio, lab\. Try: --team studio\n$/,
    ],
    [
      ['Bake', '--team-file', 'jury.json'],
      /members\.0\.triad\.members: .*members\.0\.triad: .*"why"/,
    ],
    [
      ['Bake', '--members', 'a', '--max-retries', '-1'],
      /a whole number of at least 0\. Try: npm run planwave -- team --help/,
    ],
    [['Bake', '--team-file', 'broken.json'], /from broken\.json.*"typo"/],
    [['Bake', '--team-file', 'none.json'], /can't be read: .*ENOENT/],
    [
      ['Bake', '--members', 'a', '--timeout', '0'],
      /a whole number of at least 1\. Try: npm run planwave -- team --help/,
    ],
    [[' ', '--members', 'a'], /message: expected a message/],
  ])('refuses %j with exit code 2', async (argv, message) => {
    const { code, err, input } = await run(argv);
    expect([code, input]).toEqual([2, undefined]);
    expect(err).toMatch(message);
  });
});

const start = ['Bake', '--members', 'researcher'];

it('follows the team, then prints its answer and what each cost', async () => {
  const { code, out } = await run(start, ended);
  expect(code).toBe(0);
  expect(out).toMatch(/^Started bread\.\n/);
  expect(out).toContain('\n# Bread\n\nIt is baked.\n');
  expect(out).toMatch(/leader {2,}2 .*\n.*researcher {2,}1 {2,}1 .*\n.*together {2,}3 /);
  expect(out).toContain('member_timeout was over');
});

it('--stream shows what is written, by whom, and the end', async () => {
  const looks = [
    look(team({}, [task('d1')]), {
      calls: [writing('task', 'a', 'I lead.'), writing('task.d1', 'b', 'One\nand tw')],
    }),
    look(team({}, [task('d1')]), { calls: [writing('task.d1', 'b', 'One\nand two')] }),
    done,
  ];
  const { code, out } = await run([...start, '--stream'], {
    ...ended,
    team: () => Promise.resolve(looks.shift() ?? done),
  });
  expect(code).toBe(0);
  expect(out.split('\n').slice(0, 9)).toEqual([
    'Started bread.',
    'leader · gave out 1 task · thinks · turn 1',
    '● d1 (researcher) Title of d1 · running',
    'researcher d1 │ One',
    'researcher d1 │ and two',
    '✓ d1 (researcher) Title of d1 · completed',
    'leader │ I lead.',
    'leader · is done · turn 1',
    '',
  ]);
  expect(out).toContain('# Bread');
  expect(out).toContain('team: completed');
});

it('--stream --json prints one event a line', async () => {
  const { out } = await run([...start, '--stream', '--json'], ended);
  const events: unknown[] = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(events).toMatchObject([
    { type: 'started', run_id: 'bread' },
    { type: 'leader' },
    { type: 'delegation', state: 'completed' },
    { type: 'answer' },
    { type: 'end', status: 'completed' },
  ]);
});

it('--json prints one document at the end, and says on standard error what waits', async () => {
  const asking = look(team({ state: 'waiting_for_user' }), { questions: [question()] });
  const looks = [asking, done];
  const { code, out, err } = await run([...start, '--json'], {
    ...ended,
    team: () => Promise.resolve(looks.shift() ?? done),
  });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    run_id: 'bread',
    answer: '# Bread\n\nIt is baked.',
    status: 'completed',
    usage: { calls: 3 },
    members: [{ member_id: 'researcher', usage: { calls: 1 } }],
    result_path: '.planning/bread/result.md',
    report_path: '.planning/bread/report.md',
  });
  expect(err).toContain('q1 waits for an answer: Which region?\n  answer with: npm run planwave');
});

it.each([
  ['ended unmet', endOfTeam({ status: 'failed', reason: 'No.', answer: '' }), 1],
  [
    'refused its input',
    { ended: 'failed', type: 'InvalidInput', reason: 'No members.' } as const,
    2,
  ],
])('exit code of a team that %s', async (_what, end, expected) => {
  const refused = listing({ execution: 'completed', phase: null });
  const { code } = await run([...start, '--stream'], {
    ...ended,
    team: () => Promise.resolve({ ...done, run: refused }),
    describe: () => Promise.resolve(refused),
    result: () => Promise.resolve(end),
  });
  expect(code).toBe(expected);
});

it('case 7.1: a stream that is lost says how to come back, with exit code 3', async () => {
  const { code, err } = await run([...start, '--stream'], {
    team: () => Promise.reject(new PlanwaveClientError('unauthorized', 'Refused.')),
  });
  expect(code).toBe(3);
  expect(err).toBe('Refused. Come back with: npm run planwave -- watch bread\n');
});

it.each([
  ['between two looks', () => Promise.resolve(look(team({})))],
  ['while no worker answers', () => new Promise<never>(() => {})],
])('Ctrl-C leaves the team at work, %s', async (_when, read) => {
  const io = createFakeIo();
  const deps = createFakeDeps(io, {
    team: () => {
      setTimeout(() => io.interrupt(), 5);
      return read();
    },
  });
  expect(await runCli(['team', ...start, '--stream'], deps)).toBe(130);
  expect(io.out()).toContain('Run run-1 goes on without you. Come back with: ');
});

it('lines of several writers never mix, a hole is shown, and nothing harms a terminal', () => {
  const io = createFakeIo();
  const printer = createTeamPrinter(io.stdout, createPaint(false));
  const text = (of: string, call: string, position: number, said: string, gap = false): void =>
    printer.tell({
      type: 'text',
      delegation_id: of,
      from: 'member',
      agent_id: of,
      call,
      position,
      text: said,
      gap,
    });
  text('task.d1', 'a', 0, 'one ');
  text('task.d2', 'b', 0, 'two\u001B[2J');
  text('task.d1', 'a', 4, 'three\nfour');
  text('task.d2', 'b', 100, 'six', true);
  text('task.d1', 'c', 0, 'next call\n');
  text('task.d1', 'c', 10, 'x'.repeat(200));
  printer.tell({ type: 'answer', text: 'Done.' });
  expect(io.out().split('\n')).toEqual([
    'task.d1 d1 │ one three',
    'task.d2 d2 │ two',
    'task.d1 d1 │ four',
    'task.d1 d1 │ next call',
    `task.d1 d1 │ ${'x'.repeat(200)}`,
    'task.d2 d2 │ […] six',
    '',
    'Done.',
    '',
    '',
  ]);
});
