import type { Command } from 'commander';
import type { CommandRunner } from '../command-runner.ts';

/** Adds options and work to a command. */
type Register = (command: Command, runner: CommandRunner) => void;

type Argument = readonly [word: string, description: string];

/** A command as the help of the program shows it. */
interface CommandEntry {
  readonly name: string;
  readonly does: string;
  readonly takes?: readonly Argument[];
  /** Loads what no other command needs, because loading takes longer than most commands. */
  readonly load: () => Promise<Register>;
}

const run: Argument = ['<run>', 'id of the run'];
const role: Argument = ['<role>', 'designer, verifier or risk'];
const reason: Argument = ['[reason...]', 'reason, shown with the run'];

/** Commands in the order of the help, those needed first at the top. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'start',
    does: 'start a run',
    takes: [['[goal]', 'goal of the run, in quotes']],
    load: async () => (await import('./start.ts')).registerStart,
  },
  {
    name: 'team',
    does: 'start a team: a leader divides the work among members and answers',
    takes: [['[message]', 'task of the team, in quotes']],
    load: async () => (await import('./team.ts')).registerTeam,
  },
  {
    name: 'watch',
    does: 'follow a run live and ask its questions; Ctrl-C leaves it running',
    takes: [run],
    load: async () => (await import('./watch.ts')).registerWatch,
  },
  {
    name: 'questions',
    does: 'show open questions with the commands that answer them, and refused answers',
    takes: [['[run]', 'id of the run; default: every run that waits for you']],
    load: async () => (await import('./questions.ts')).registerQuestions,
  },
  {
    name: 'answer',
    does: 'answer a question of a run',
    takes: [
      run,
      ['[question_id]', 'for example q1; optional if only one question is open'],
      ['[answer...]', 'the answer; "-" reads it from standard input'],
    ],
    load: async () => (await import('./answer.ts')).registerAnswer,
  },
  {
    name: 'status',
    does: 'show the state of a run, what it waits for and what it has cost',
    takes: [['<run>', 'id of the run, or the path of a delegation: my-run/wave-001/facts']],
    load: async () => (await import('./status.ts')).registerStatus,
  },
  {
    name: 'report',
    does: "print a run's answer (result.md)",
    takes: [run],
    load: async () => (await import('./report.ts')).registerReport,
  },
  {
    name: 'compare',
    does: 'compare two runs: figures, criteria, plan and answer',
    takes: [
      ['<a>', 'id of a run'],
      ['<b>', 'id of another run'],
    ],
    load: async () => (await import('./compare.ts')).registerCompare,
  },
  {
    name: 'view',
    does: 'open runs as live pages in your browser: who did what, questions, evidence',
    takes: [['[run]', 'id of the run; default: a list']],
    load: async () => (await import('./view.ts')).registerView,
  },
  {
    name: 'diff',
    does: "print a run's changes of its workspace, a git repository, as a patch",
    takes: [run, ['[delegation]', 'only the changes of this delegation']],
    load: async () => (await import('./changes.ts')).registerDiff,
  },
  {
    name: 'apply',
    does: "apply a run's changes to your folder, without a commit",
    takes: [run],
    load: async () => (await import('./changes.ts')).registerApply,
  },
  {
    name: 'undo',
    does: "remove a run's applied changes from your folder",
    takes: [run],
    load: async () => (await import('./changes.ts')).registerUndo,
  },
  {
    name: 'list',
    does: 'list runs and everything else that people started, newest first; needs no worker',
    load: async () => (await import('./list.ts')).registerList,
  },
  {
    name: 'fork',
    does: "start a run from another run's state before a wave; earlier waves are not paid again",
    takes: [run],
    load: async () => (await import('./fork.ts')).registerFork,
  },
  {
    name: 'pause',
    does: 'finish calls in flight and start nothing new',
    takes: [run, reason],
    load: async () => (await import('./control.ts')).registerControl('pause'),
  },
  {
    name: 'resume',
    does: 'continue after a pause, or after the cause of a parked run is fixed',
    takes: [run, reason],
    load: async () => (await import('./control.ts')).registerControl('resume'),
  },
  {
    name: 'stop',
    does: 'cancel calls in flight and end the run with the work done so far',
    takes: [run, reason],
    load: async () => (await import('./control.ts')).registerControl('stop'),
  },
  {
    name: 'ask',
    does: 'ask an agent that designed a run; changes nothing',
    takes: [run, role, ['<question>', 'the question, in quotes']],
    load: async () => (await import('./consult.ts')).registerAsk,
  },
  {
    name: 'talk',
    does: 'talk with an agent that designed a run; can end in an instruction',
    takes: [run, role],
    load: async () => (await import('./consult.ts')).registerTalk,
  },
  {
    name: 'amend',
    does: 'give a run an instruction, change answers or waive criteria',
    takes: [run, ['<instruction>', 'instruction for all further work, in quotes']],
    load: async () => (await import('./control.ts')).registerAmend,
  },
  {
    name: 'export',
    does: "rewrite a run's readable files from the store",
    takes: [run],
    load: async () => (await import('./report.ts')).registerExport,
  },
  {
    name: 'artifact',
    does: 'print or save what is stored, such as the arguments of a call that waits for approval',
    takes: [['<ref>', 'its address, as questions and history show it']],
    load: async () => (await import('./report.ts')).registerArtifact,
  },
  {
    name: 'plan',
    does: 'check, run, compare, draw and export coordination plans',
    load: async () => (await import('./plan.ts')).registerPlan,
  },
  {
    name: 'eval',
    does: 'carry out goals under several settings, and judge and compare the answers',
    takes: [['<file>', 'YAML or JSON file; "-" reads standard input']],
    load: async () => (await import('./eval.ts')).registerEval,
  },
  {
    name: 'schedule',
    does: 'start runs by the clock: create, list, pause, resume, trigger, delete',
    load: async () => (await import('./schedule.ts')).registerSchedule,
  },
  {
    name: 'agents',
    does: 'list, show, check and add agents',
    load: async () => (await import('./agents.ts')).registerAgents,
  },
  {
    name: 'mcp',
    does: 'check the MCP servers that agents may use; serve planwave to chat clients',
    load: async () => (await import('./mcp.ts')).registerMcp,
  },
  {
    name: 'codec-server',
    does: 'decrypt for the Temporal Web UI and the Temporal CLI with PLANWAVE_KEYS, on this machine',
    load: async () => (await import('./codec-server.ts')).registerCodecServer,
  },
  {
    name: 'budget',
    does: 'limit what the runs of a tenant cost in a day',
    load: async () => (await import('./budget.ts')).registerBudget,
  },
  {
    name: 'prune',
    does: 'remove runs that ended long ago from the artifact home; needs no server',
    load: async () => (await import('./store.ts')).registerPrune,
  },
  {
    name: 'fsck',
    does: 'read everything in the artifact home and report damage; needs no server',
    load: async () => (await import('./store.ts')).registerFsck,
  },
  {
    name: 'store',
    does: 'copy a whole store: a home into a database, or back; needs no server',
    load: async () => (await import('./store.ts')).registerStore,
  },
  {
    name: 'threads',
    does: 'list what teams remember across runs, newest first',
    load: async () => (await import('./threads.ts')).registerThreads,
  },
  {
    name: 'init',
    does: 'write a starter folder: an agent, a tool with its test, settings; overwrites nothing',
    takes: [['[folder]', 'where to write; default: the current folder']],
    load: async () => (await import('./init.ts')).registerInit,
  },
  {
    name: 'completion',
    does: 'print a script that completes commands and options in a shell',
    takes: [['<shell>', 'bash, zsh or fish']],
    load: async () => (await import('./completion.ts')).registerCompletion,
  },
  {
    name: 'doctor',
    does: 'check everything a run needs, and show how to repair what fails',
    load: async () => (await import('./doctor.ts')).registerDoctor,
  },
];
