import { Command } from 'commander';
import { entryPoints } from '../../../core/text/entry-points.ts';
import { commandPrefix } from '../../../core/text/format.ts';
import { exitCodeHelp, exitCodes } from '../cli-error.ts';
import type { CliDeps, LazyCliDeps } from '../cli-deps.ts';
import { createCommandRunner, type CommandRunner, type GlobalOptions } from '../command-runner.ts';
import { commands } from './command-list.ts';
import { findCommandName, showError } from './show-error.ts';

/** Two command lines for each command: the usual one, and one that shows more. */
export const examples: Readonly<Record<string, readonly [string, string]>> = {
  start: [
    'start "Compare three ways to store a backup" --watch',
    'start "Plan a move" --agents ./my-agents --budget-usd 5 --criterion "Names each risk"',
  ],
  team: [
    'team "Write a notice about the outage" --members researcher,writer',
    'team "Go on" --members researcher,writer --thread outage --stream',
  ],
  watch: ['watch backup-choice', 'watch backup-choice --defaults'],
  'mcp serve': ['mcp serve', 'mcp serve --http 8765'],
  questions: ['questions', 'questions backup-choice --json'],
  answer: ['answer backup-choice', 'answer backup-choice q1 "the person who decides"'],
  status: ['status backup-choice', 'status backup-choice --json'],
  report: ['report backup-choice', 'report backup-choice --html backup-choice.html'],
  compare: ['compare backup-choice backup-direct', 'compare backup-choice backup-direct --json'],
  view: ['view backup-choice', 'view --port 8080'],
  list: ['list --open', 'list --limit 100 --json'],
  fork: [
    'fork backup-choice --wave 2',
    'fork backup-choice --wave 3 --amend "Only the EU" --budget-usd 2 --yes',
  ],
  pause: ['pause backup-choice', 'pause backup-choice "until the budget is decided"'],
  resume: ['resume backup-choice', 'resume backup-choice "the key is renewed"'],
  stop: ['stop backup-choice', 'stop backup-choice "the goal has changed"'],
  ask: [
    'ask backup-choice designer "Why two databases?"',
    'ask backup-choice risk "What can go wrong first?" --json',
  ],
  talk: ['talk backup-choice designer', 'talk backup-choice verifier'],
  amend: [
    'amend backup-choice "Leave cloud services out"',
    'amend backup-choice "Only the EU" --answer q1=EU --waive c2',
  ],
  artifact: ['artifact 3f5a…', 'artifact 3f5a… --out logo.png'],
  diff: ['diff backup-choice', 'diff backup-choice research'],
  apply: ['apply backup-choice', 'apply backup-choice --json'],
  undo: ['undo backup-choice', 'undo backup-choice --json'],
  export: ['export backup-choice', 'export backup-choice --json'],
  plan: ['plan check plan.yaml', 'plan graph plan.yaml --out plan.svg'],
  'plan export': ['plan export backup-choice', 'plan export backup-choice --out plan.yaml'],
  'plan check': ['plan check plan.yaml', 'plan check plan.yaml --agents ./my-agents --json'],
  'plan run': [
    'plan run plan.yaml --watch',
    'plan run plan.yaml --id backup-choice --workspace . --budget-usd 5',
  ],
  'plan diff': ['plan diff plan.yaml changed.yaml', 'plan diff backup-choice plan.yaml --json'],
  'plan graph': ['plan graph plan.yaml --out plan.svg', 'plan graph plan.yaml --mermaid'],
  'plan schema': ['plan schema', 'plan schema --out plan.schema.json'],
  eval: [
    'eval examples/evaluation/six-goals.yaml --check',
    'eval goals.yaml --repeat 5 --junit eval.xml',
  ],
  schedule: ['schedule list', 'schedule create nightly "Check the backups" --cron "0 2 * * *"'],
  'schedule create': [
    'schedule create nightly "Check the backups" --cron "0 2 * * *" --time-zone Europe/Berlin',
    'schedule create often "Read the news" --every 2h --overlap skip --unattended --budget-usd 1',
  ],
  'schedule list': ['schedule list', 'schedule list --json'],
  'schedule pause': ['schedule pause nightly', 'schedule pause nightly "until the move is over"'],
  'schedule resume': ['schedule resume nightly', 'schedule resume nightly "the move is over"'],
  'schedule trigger': ['schedule trigger nightly', 'schedule trigger nightly --json'],
  'schedule delete': ['schedule delete nightly', 'schedule delete nightly --json'],
  agents: ['agents list', 'agents check ./my-agents'],
  'agents list': ['agents list', 'agents list --agents ./my-agents'],
  'agents show': ['agents show researcher', 'agents show tester --agents ./my-agents'],
  'agents check': ['agents check ./my-agents', 'agents check ./my-agents/tester.md'],
  'agents add': [
    'agents add tester.md --to ./my-agents',
    'agents add plan.yaml --to ./my-agents --yes',
  ],
  mcp: ['mcp list', 'mcp check'],
  'mcp list': ['mcp list', 'mcp list --agents ./my-agents'],
  'mcp check': ['mcp check', 'mcp check github --agents ./my-agents'],
  'codec-server': ['codec-server', 'codec-server --port 8300 --ui https://temporal.example.com'],
  budget: ['budget set acme --usd-per-day 50', 'budget list'],
  'budget set': ['budget set acme --usd-per-day 50', 'budget set acme --usd-per-day 0.5 --json'],
  'budget show': ['budget show acme', 'budget show acme --json'],
  'budget list': ['budget list', 'budget list --json'],
  'budget remove': ['budget remove acme', 'budget remove acme --json'],
  fsck: ['fsck', 'fsck --repair'],
  prune: ['prune --older-than 30d --dry-run', 'prune --older-than 90d'],
  store: [
    'store copy .planning postgresql://planwave@db:5432/planwave',
    'store copy postgresql://planwave@db:5432/planwave ./copy',
  ],
  'store copy': [
    'store copy .planning postgresql://planwave@db:5432/planwave',
    'store copy postgresql://planwave@db:5432/planwave ./copy',
  ],
  threads: ['threads', 'threads --user ada --limit 5'],
  'threads show': ['threads show outage', 'threads show outage --limit 50'],
  'threads delete': ['threads delete outage', 'threads delete outage --yes'],
  init: ['init', 'init my-planwave'],
  completion: ['completion bash', 'completion fish'],
  doctor: ['doctor', 'doctor --replay'],
  temporal: ['temporal workflow list', 'temporal workflow show --workflow-id backup-choice'],
};

/** Adds to every command the examples that belong to it. */
export function addExamples(command: Command, path: readonly string[] = []): void {
  for (const inner of command.commands) {
    const innerPath = [...path, inner.name()];
    const lines = (examples[innerPath.join(' ')] ?? []).map((line) => `  ${commandPrefix} ${line}`);
    if (lines.length > 0) inner.addHelpText('after', ['', 'Examples:', ...lines].join('\n'));
    addExamples(inner, innerPath);
  }
}

/** Returns the end of the program's own help. */
export function helpFooter(): string {
  const codes = exitCodeHelp.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`);
  return [
    '',
    'Exit codes:',
    ...codes,
    '',
    'Parts that run until Ctrl-C:',
    `  ${entryPoints.dev}: server, worker and model`,
    `  ${entryPoints.worker}: a worker`,
    `  ${entryPoints.rehearsal}: the rehearsal model`,
    '',
    `Examples of a command: ${commandPrefix} <command> --help`,
    `In scripts: ${commandPrefix.replace('run', 'run --silent')} <command> --json`,
  ].join('\n');
}

/**
 * Creates the program. Only the command that the words name has its options and its work.
 *
 * @param argv words of the command line; null: all commands are loaded
 * @param reportExitCode called with the exit code of the command that ran
 */
export async function createProgram(
  argv: readonly string[] | null,
  shell: CliDeps | LazyCliDeps,
  reportExitCode: (exitCode: number) => void = () => {},
): Promise<Command> {
  const program = new Command('planwave')
    .description('Start, watch and steer planwave runs on a Temporal server.')
    .usage('<command> [options]')
    .version(shell.version ?? 'unknown', '--version', 'print the version')
    // Without it, the options after `temporal` would be read as ours.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.io.stdout.write(text),
      writeErr: (text) => shell.io.stderr.write(text),
      // Printed by runCli, in the form of all other errors.
      outputError: () => {},
    })
    .addHelpText('after', helpFooter());
  const runner = createCommandRunner(shell, reportExitCode);
  const wanted = argv === null ? null : findCommandName(argv);
  for (const { name, does, takes = [], load } of commands) {
    const command = program.command(name).description(does);
    for (const [word, description] of takes) command.argument(word, description);
    // One after the other, in the order of the help.
    // oxlint-disable-next-line no-await-in-loop
    if (wanted === null || wanted === name) (await load())(command, runner);
  }
  registerTemporal(program, runner);
  addExamples(program);
  addGlobalOptions(program);
  return program;
}

/** Adds the global options to every command below too, so that they may stand after its name. */
function addGlobalOptions(command: Command): void {
  for (const inner of command.commands) addGlobalOptions(inner);
  command
    .option('--json', 'print one JSON document on standard output and nothing else')
    .option(
      '--address <host:port>',
      'Temporal server (default: TEMPORAL_ADDRESS, else localhost:7233)',
    )
    .option('--namespace <name>', 'Temporal namespace (default: TEMPORAL_NAMESPACE, else default)');
}

function registerTemporal(program: Command, runner: CommandRunner): void {
  program
    .command('temporal')
    .argument('[arguments...]', 'passed to the Temporal CLI unchanged')
    .description('run the Temporal CLI that planwave uses')
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
    .action(
      runner(async ({ deps, globals }, words: readonly string[]) => ({
        data: undefined,
        lines: [],
        exitCode: await deps.runTemporalCli([...words, ...passedOn(globals)]),
      })),
    );
}

/** Returns our options that were given before the command's name, in the Temporal CLI's own words. */
function passedOn({ address, namespace, json }: GlobalOptions): string[] {
  return [
    ...(address === undefined ? [] : ['--address', address]),
    ...(namespace === undefined ? [] : ['--namespace', namespace]),
    ...(json === true ? ['--output', 'json'] : []),
  ];
}

/**
 * Runs one command line.
 *
 * @param argv the user's own arguments, without the names of the interpreter and the script
 * @returns the exit code. The caller sets `process.exitCode`: ending the process at once could cut off output.
 */
export async function runCli(
  argv: readonly string[],
  shell: CliDeps | LazyCliDeps,
): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const program = await createProgram(argv, shell, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    return showError(error, { program, argv, io: shell.io, env: shell.env });
  }
}
