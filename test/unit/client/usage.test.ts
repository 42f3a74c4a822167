import type { Command } from 'commander';
import { examples, createProgram, runCli } from '../../../client/cli/commands/program.ts';
import type { CliDeps } from '../../../client/cli/cli-deps.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import { matchAll, read, sourceFiles } from '../../architecture/repository.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';

async function run(
  argv: readonly string[],
  methods: Partial<PlanwaveClient> = {},
  others: Partial<CliDeps> = {},
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const io = createFakeIo();
  const code = await runCli(argv, createFakeDeps(io, methods, others));
  return { code, out: io.out(), err: io.err() };
}

/** Name of a command with those of the commands above it, as in `threads show`. */
function pathOf(command: Command): string {
  const above = command.parent?.parent ? [pathOf(command.parent)] : [];
  return [...above, command.name()].join(' ');
}

describe('usage', () => {
  it('shows its commands and exit codes', async () => {
    const { code, out, err } = await run(['--help']);
    expect(code).toBe(0);
    expect(err).toBe('');
    const words =
      'start watch questions answer status list pause resume stop amend export threads report doctor temporal';
    for (const word of words.split(' ')) expect(out).toContain(`\n  ${word} `);
    expect(out).toContain('Exit codes:');
    expect(out).toContain('  npm run dev: server, worker and model\n');
  });

  it.each([
    [['qwxz'], "unknown command 'qwxz'. Try: npm run planwave -- --help\n"],
    [['status'], "missing required argument 'run'. Try: npm run planwave -- status --help\n"],
    [
      ['status', 'a', 'b'],
      /^too many arguments for 'status'.*Try: npm run planwave -- status --help\n$/,
    ],
    [
      ['start', 'goal', '--max-waves', '0'],
      /a whole number of at least 1\. Try: .* start --help\n$/,
    ],
    [
      ['start', '--xyzzy', 'goal'],
      "unknown option '--xyzzy'. Try: npm run planwave -- start --help\n",
    ],
    [['start'], /^A goal is missing\. Try: npm run planwave -- start /],
    [
      ['start', '--criterion', 'Names each risk', 'Plan a move'],
      /^A goal is missing\. Options such as --criterion take every word behind them, so the goal comes first\. Try: /,
    ],
    [['start', ' '], /goal: expected a goal/],
    [
      ['start', 'Goal', '--workspace', '.', '--no-apply', '--apply'],
      'Expected one of --apply and --no-apply. Try: leave the others out\n',
    ],
    [
      ['start', 'Goal', '--verify-triad', 'dialektic'],
      /is invalid\. Expected one of "hierarchical", "dialectic", .*\. Did you mean "dialectic"\? Try: .* start --help\n$/,
    ],
    [
      ['schedule', 'create', 'nightly', 'Goal', '--overlap', 'bufer-one'],
      / Did you mean "buffer-one"\? Try: .* schedule create --help\n$/,
    ],
    [['ask', 'run-1', 'desinger', 'Why?'], /"risk"\. Did you mean "designer"\?\n$/],
    [['amend', 'run-1', ' '], 'The instruction is empty.\n'],
  ])('refuses %j in one line, with exit code 2', async (argv, message) => {
    const { code, out, err } = await run(argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toEqual(expect.stringMatching(message));
    expect(err.trimEnd()).not.toContain('\n');
  });

  it('finding U11: has its version, and two examples in the help of every command', async () => {
    expect(await run(['--version'], {}, { version: '1.2.3' })).toMatchObject({
      code: 0,
      out: '1.2.3\n',
    });
    const listCommands = (command: Command): Command[] =>
      command.commands.flatMap((inner) => [inner, ...listCommands(inner)]);
    const program = await createProgram(null, createFakeDeps(createFakeIo()));
    const lacking = listCommands(program)
      .map((command) => pathOf(command))
      .filter((path) => examples[path] === undefined);
    expect(lacking).toEqual([]);
    const { out } = await run(['start', '--help']);
    for (const example of examples['start'] ?? []) expect(out).toContain(`-- ${example}\n`);
  });

  it('every command that a text advises exists, with its options', async () => {
    const program = await createProgram(null, createFakeDeps(createFakeIo()));
    const advised = sourceFiles
      .flatMap((path) => matchAll(read(path), /\bcommandText\(([^;]*?)\)[^,]/g))
      .map((words) => matchAll(words, /'([^' \n]+)'/g))
      .filter(([first]) => first !== 'temporal');
    const unknown = advised.filter((words) => {
      let command: Command = program;
      for (const word of words) {
        const inner = command.commands.find((one) => one.name() === word);
        if (inner === undefined) break;
        command = inner;
      }
      const known = [...command.options.map(({ long }) => long), '--json', '--help'];
      const options = words.filter((word) => word.startsWith('--'));
      return (
        (words.length > 0 && command === program && !known.includes(words[0])) ||
        options.some((option) => !known.includes(option))
      );
    });
    expect(advised.length).toBeGreaterThan(60);
    expect(unknown).toEqual([]);
  });

  it.each([
    ['start Compare two things --watch'],
    ['start --watch Compare two things'],
    ['start Compare --id x two things'],
    ['--namespace other start Compare two things'],
  ])('finding U11: names the quotes that the goal of %j needs', async (line) => {
    const { err } = await run(line.split(' '));
    expect(err).toMatch(
      /^too many arguments .*Try: put it in quotes: npm run planwave -- start 'Compare two things'\n$/,
    );
  });

  it.each([
    [['status'], "missing required argument 'run'. Try: npm run planwave -- status --help"],
    [['strat'], "unknown command 'strat' (Did you mean start?). Try: npm run planwave -- --help"],
  ])('refuses %j as JSON when that was asked for, with the cure', async (argv, message) => {
    const { code, out, err } = await run([...argv, '--json']);
    expect({ code, err }).toEqual({ code: 2, err: '' });
    expect(JSON.parse(out)).toEqual({ error: { code: 'bad_input', message } });
  });

  it('shows the help when no command was given', async () => {
    const { code, err } = await run([]);
    expect(code).toBe(2);
    expect(err).toContain('Usage: planwave');
  });
});

describe('finding U12: what is refused is told once, and in plain words', () => {
  it.each([
    [['start', 'x'.repeat(100_001)], 'goal: expected at most 100,000 characters\n'],
    [['start', 'Goal', '--constraint', ''], 'constraints.0: expected at least 1 characters\n'],
  ])('of a start', async (argv, told) => {
    const { code, err } = await run(argv);
    expect(code).toBe(2);
    expect(err).toContain(told);
  });

  it('of an answer', async () => {
    const rejected = [
      { question_id: 'q1', reason: 'q1: expected a number', example: null, rejected_at: 1 },
      {
        question_id: null,
        reason: 'unknown field "question"',
        example: { question_id: 'q1', answer: 7 },
        rejected_at: 2,
      },
    ];
    const { out } = await run(['questions', 'run-1'], {
      questions: () =>
        Promise.resolve({
          live: true,
          view: { open: [], answered: [], rejected, rejected_total: 2 },
        }),
    });
    expect(out).toContain(
      '\n  q1: expected a number\n' +
        '  a message: unknown field "question"\n' +
        '    for example: {"question_id":"q1","answer":7}\n',
    );
  });
});
