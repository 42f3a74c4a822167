import type { Mock } from 'vitest';
import { PlanwaveClientError } from '../../../client/client-error.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import type { CliDeps } from '../../../client/cli/cli-deps.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';
import type { FakeIo } from './support/fake-io.ts';
import { listing, question, status } from './support/samples.ts';

/** Notes the calls of a method, and answers each the same. */
const spy = <Result>(answer: () => Result): Mock<() => Result> => vi.fn<() => Result>(answer);

async function run(
  argv: readonly string[],
  methods: Partial<PlanwaveClient> = {},
  others: Partial<CliDeps> = {},
  io: FakeIo = createFakeIo(),
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const code = await runCli(argv, createFakeDeps(io, methods, others));
  return { code, out: io.out(), err: io.err() };
}

const json = (text: string): unknown => {
  expect(text.split('\n')).toHaveLength(2);
  return JSON.parse(text) as unknown;
};

const view = { open: [question()], answered: [], rejected: [], rejected_total: 0 };
const withQuestion: Partial<PlanwaveClient> = {
  questions: () => Promise.resolve({ live: true, view }),
};

/** No worker tells what became of a message, so nothing is waited for. */
const unanswered: PlanwaveClient['questions'] = () =>
  Promise.resolve({ live: false, note: '', stuck: [], last_known: listing() });

const failing = (failure: Error): Partial<PlanwaveClient> => {
  const list = (): Promise<never> => Promise.reject(failure);
  return { list };
};

const rejectLost = (): Promise<never> =>
  Promise.reject(new PlanwaveClientError('not_found', 'No copies here.'));

describe('errors', () => {
  it.each([
    [['budget', 'set', 'acme'], 'npm run planwave -- budget set --help'],
    [['list', '--bogus'], 'npm run planwave -- list --help'],
    [['strat', 'start'], 'npm run planwave -- --help'],
    [['artifact', '3cca23d0'], 'the whole address'],
    [['plan', 'check', 'none.yaml'], 'a path from the folder of this shell'],
    [['plan', 'check', '/'], 'the path of a file in it'],
  ])('a mistake in %j names the way on', async (argv, cure) => {
    const { code, err } = await run(argv);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(`Try: ${cure}`) });
  });

  it.each([
    ['unreachable', 3],
    ['unauthorized', 3],
    ['not_found', 4],
    ['already_exists', 2],
    ['bad_input', 2],
    ['run_ended', 5],
    ['internal', 1],
  ] as const)('%s ends with exit code %i', async (errorCode, exitCode) => {
    const error = new PlanwaveClientError(errorCode, 'What happened. Try: this.');
    const plain = await run(['list'], failing(error));
    expect(plain).toEqual({ code: exitCode, out: '', err: 'What happened. Try: this.\n' });
    const asJson = await run(['list', '--json'], failing(error));
    expect(asJson.err).toBe('');
    expect(json(asJson.out)).toEqual({
      error: { code: errorCode, message: 'What happened. Try: this.' },
    });
  });

  it('shows a stack only when PLANWAVE_DEBUG is 1', async () => {
    const defect = new TypeError('x is not a function');
    const plain = await run(['list'], failing(defect));
    expect(plain.err).toBe('x is not a function (PLANWAVE_DEBUG=1 shows where)\n');
    const debug = await run(['list'], failing(defect), { env: { PLANWAVE_DEBUG: '1' } });
    expect(debug.err).toContain('run-cli.test.ts');
  });
});

describe('start', () => {
  it('makes the input from what was given, with an absolute folder', async () => {
    const startRun = spy(() => Promise.resolve({ run_id: 'my-run' }));
    const { code, out } = await run(
      'start Goal --id my-run --agents mine --language de --defaults --priority 2 --tenant acme --no-triads --no-teams --constraint a b --criterion c --max-waves 2 --json'.split(
        ' ',
      ),
      { startRun },
    );
    expect(code).toBe(0);
    expect(json(out)).toEqual({ run_id: 'my-run', watch: 'npm run planwave -- watch my-run' });
    expect(startRun).toHaveBeenCalledWith(
      {
        goal: 'Goal',
        agents_dir: '/somewhere/mine',
        language: 'de',
        use_defaults: true,
        priority: 2,
        tenant: 'acme',
        triads: false,
        teams: false,
        constraints: ['a', 'b'],
        criteria: ['c'],
        limits: { max_waves: 2 },
      },
      { run_id: 'my-run' },
    );
  });

  it('takes options of ours before and behind the command', async () => {
    const openSession = vi.fn<NonNullable<CliDeps['openSession']>>(
      createFakeDeps(createFakeIo()).openSession,
    );
    await run(['--address', 'a:1', 'list', '--namespace', 'n'], {}, { openSession });
    expect(openSession).toHaveBeenCalledWith(
      expect.objectContaining({ address: 'a:1', namespace: 'n' }),
    );
  });
});

describe('answer', () => {
  it('sends the answer in the type that is asked for', async () => {
    const answer = spy<ReturnType<PlanwaveClient['answer']>>(() =>
      Promise.resolve({ status: 'accepted', question_id: 'q1', accepted: 'true' }),
    );
    const open = [question({ expected_answer_format: 'boolean' })];
    const { code, out } = await run(['answer', 'run-1', 'q1', 'yes'], {
      questions: () => Promise.resolve({ live: true, view: { ...view, open } }),
      answer,
    });
    expect({ code, out }).toEqual({ code: 0, out: 'q1 answered: true\n' });
    expect(answer).toHaveBeenCalledWith('run-1', { question_id: 'q1', answer: true });
  });

  it('explains a refusal with the reason and an example, exit code 5', async () => {
    const refused: Partial<PlanwaveClient> = {
      ...withQuestion,
      answer: () =>
        Promise.resolve({
          status: 'refused',
          question_id: 'q1',
          reason: 'q1: expected a number',
          example: { question_id: 'q1', answer: 3 },
        }),
    };
    const { code, err } = await run(['answer', 'run-1', 'q1', 'x'], refused);
    expect(code).toBe(5);
    expect(err).toBe(
      'q1 was not answered: expected a number. For example: npm run planwave -- answer run-1 q1 3\n',
    );
    const asJson = await run(['answer', 'run-1', 'q1', 'x', '--json'], refused);
    expect(json(asJson.out)).toMatchObject({
      error: { code: 'refused', reason: 'q1: expected a number', example: { answer: 3 } },
    });
  });

  it('prints the exact command without a terminal', async () => {
    const { code, err } = await run(['answer', 'run-1'], withQuestion);
    expect(code).toBe(2);
    expect(err).toBe(
      "The answer is missing. Try: npm run planwave -- answer run-1 q1 'your answer'\n",
    );
  });

  it('reads the answer from standard input', async () => {
    const answer = spy<ReturnType<PlanwaveClient['answer']>>(() =>
      Promise.resolve({ status: 'accepted', question_id: 'q1', accepted: null }),
    );
    const io = createFakeIo();
    io.stdin.end('two\nlines\n');
    await run(['answer', 'run-1', 'q1', '-'], { ...withQuestion, answer }, {}, io);
    expect(answer).toHaveBeenCalledWith('run-1', { question_id: 'q1', answer: 'two\nlines' });
  });

  it('says that it was sent when no worker is there', async () => {
    const { code, out } = await run(['answer', 'run-1', 'q1', 'x'], {
      questions: () =>
        Promise.resolve({
          live: false,
          note: 'No worker is running.',
          stuck: [],
          last_known: listing(),
        }),
      answer: (_run, _answer, options) =>
        Promise.resolve({
          status: 'sent',
          question_id: 'q1',
          note: options?.workerIsAway === true ? 'sent, checked later' : 'waited',
        }),
    });
    expect({ code, out }).toEqual({ code: 0, out: 'q1: sent, checked later\n' });
  });

  it('asks again in a terminal until the answer is taken', async () => {
    const io = createFakeIo({ isTerminal: true });
    io.typeAfter('> ', 'nonsense');
    io.typeAfter('> ', '7');
    const answers: unknown[] = [];
    const { code, out } = await run(
      ['answer', 'run-1'],
      {
        questions: () =>
          Promise.resolve({
            live: true,
            view: { ...view, open: [question({ expected_answer_format: 'number' })] },
          }),
        answer: (_run, { answer }) => {
          answers.push(answer);
          return Promise.resolve(
            typeof answer === 'number'
              ? { status: 'accepted', question_id: 'q1', accepted: String(answer) }
              : { status: 'refused', question_id: 'q1', reason: 'a number, please', example: null },
          );
        },
      },
      {},
      io,
    );
    expect(answers).toEqual(['nonsense', 7]);
    expect(out).toContain('q1 was not answered: a number, please');
    expect(code).toBe(0);
  });
});

describe('without a worker', () => {
  const away = {
    live: false,
    note: 'No worker is running.',
    stuck: [],
    last_known: listing(),
  } as const;

  it('status shows the last known state and says so', async () => {
    const { code, out } = await run(['status', 'run-1'], { status: () => Promise.resolve(away) });
    expect(code).toBe(0);
    expect(out).toContain('working · wave 1');
    expect(out).toContain('No worker is running.');
  });

  it('fault 16: status of a forgotten run comes from the store', async () => {
    const notFound = new PlanwaveClientError('not_found', 'There is no run.');
    const forgotten: Partial<PlanwaveClient> = { status: () => Promise.reject(notFound) };
    const { code, out } = await run(['status', 'run-1', '--json'], forgotten, {
      readStoredStatus: () => Promise.resolve(status({ phase: 'completed' })),
    });
    expect(code).toBe(0);
    expect(json(out)).toMatchObject({ source: 'store', phase: 'completed' });
    expect((await run(['status', 'run-1'], forgotten)).code).toBe(4);
  });
});

describe('the other commands', () => {
  it.each(['pause', 'resume', 'stop'] as const)(
    '%s sends the signal with the reason',
    async (name) => {
      const send = spy(() => Promise.resolve({}));
      const { code } = await run([name, 'run-1', 'out', 'of', 'money'], { [name]: send });
      expect(code).toBe(0);
      expect(send).toHaveBeenCalledWith('run-1', { reason: 'out of money' });
    },
  );

  it('amend passes the instruction and what is waived', async () => {
    const amend = spy(() => Promise.resolve({ instruction: 'only EU' }));
    await run(['amend', 'run-1', 'only EU', '--waive', 'c1', 'c2'], { amend });
    expect(amend).toHaveBeenCalledWith('run-1', {
      instruction: 'only EU',
      waive_criteria: ['c1', 'c2'],
    });
  });

  it('amend passes changed answers and facts, and says how one is written', async () => {
    const amend = spy(() => Promise.resolve({ instruction: 'only EU' }));
    const words = ['--answer', 'q1=EU', 'q2=a=b', '--fact', 'backup region=EU'];
    await run(['amend', 'run-1', 'only EU', ...words], { amend, questions: unanswered });
    expect(amend).toHaveBeenCalledWith('run-1', {
      instruction: 'only EU',
      facts: [{ key: 'backup region', value: 'EU' }],
      answers: [
        { question_id: 'q1', answer: 'EU' },
        { question_id: 'q2', answer: 'a=b' },
      ],
    });
    const { err } = await run(['amend', 'run-1', 'only EU', '--answer', 'q1'], { amend });
    expect(err).toContain('Try: --answer q1=EU');
  });

  it('temporal passes everything on and returns its exit code', async () => {
    const runTemporalCli = spy(() => Promise.resolve(7));
    const argv = ['temporal', 'workflow', 'list', '--json', '--help', '-o', 'json'];
    const { code, out } = await run(argv, {}, { runTemporalCli });
    expect({ code, out }).toEqual({ code: 7, out: '' });
    expect(runTemporalCli).toHaveBeenCalledWith(argv.slice(1));
  });

  it('export says where the files are', async () => {
    const { out } = await run(['export', 'run-1', '--json']);
    expect(json(out)).toEqual({ run_id: 'run-1', path: '.planning/run-1' });
  });

  it('diff in a shell with the same database and another home names the home with the working copies', async () => {
    const home = { id: 'home-a', place: '"/a" on host-a' };
    const store = { id: 'db', place: 'postgresql://db/planwave' };
    const describe = () => Promise.resolve(listing({ store: { ...store, home } }));
    const changes = { diff: rejectLost, apply: rejectLost, undo: rejectLost };
    const inHome = (own: typeof home) => async () => ({ ...store, home: own });
    const other = { id: 'home-b', place: '"/b" on host-b' };
    expect(
      await run(['diff', 'run-1'], { describe }, { changes, findStore: inHome(other) }),
    ).toMatchObject({
      code: 4,
      err: expect.stringMatching(
        /working copies .* in the home home-a \("\/a" on host-a\); .* is home-b .*Try: set PLANWAVE_HOME/,
      ),
    });
    expect(
      await run(['diff', 'run-1'], { describe }, { changes, findStore: inHome(home) }),
    ).toMatchObject({ code: 4, err: expect.stringContaining('No copies here.') });
  });

  it('list shows how a run was closed rather than what a worker last recorded', async () => {
    const load = { priority: 1, tenant: 'acme', model_queue: 'q' };
    const runs = [listing({ load }), listing({ run_id: 'run-2', execution: 'terminated' })];
    const listed = runs.map((one) => ({ ...one, stuck: null }));
    const { out } = await run(['list'], { list: () => Promise.resolve(listed) });
    expect(out).toMatch(/run-1 +working .* priority 1 · tenant acme /);
    expect(out).toMatch(/run-2 +terminated/);
  });
});

const unreachable: CliDeps['openSession'] = () =>
  Promise.reject(new PlanwaveClientError('unreachable', 'No server at a:1. Try: npm run dev'));

describe('doctor', () => {
  it('shows every finding with its cure, and ends with 1 when one fails', async () => {
    const { code, out } = await run(
      ['doctor'],
      {},
      {
        openSession: unreachable,
        doctorChecks: [
          { name: 'node', run: () => Promise.resolve({ ok: true, detail: 'v20' }) },
          {
            name: 'key',
            run: () => Promise.resolve({ ok: false, detail: 'missing', cure: 'set it' }),
          },
          { name: 'disk', run: () => Promise.reject(new Error('EIO')) },
        ],
      },
    );
    expect(code).toBe(1);
    expect(out).toBe(
      [
        '✗ Temporal server: No server at a:1',
        '    cure: npm run dev',
        '✓ node: v20',
        '✗ key: missing',
        '    cure: set it',
        '✗ disk: could not be checked: EIO',
        '3 of 4 checks failed.',
        '',
      ].join('\n'),
    );
  });

  it('prints one document with --json', async () => {
    const { out } = await run(['doctor', '--json'], {}, { openSession: unreachable });
    expect(json(out)).toMatchObject({
      ok: false,
      checks: [{ name: 'Temporal server', ok: false }],
    });
  });
});
