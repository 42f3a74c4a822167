import { countOf } from '../../../core/text/format.ts';
import { needsExplicitWord } from '../../../core/questions/check-answer.ts';
import { answerCommand, findShownRef } from '../../../core/render/questions.ts';
import type { Command } from 'commander';
import type { Question } from '../../../contracts/question.ts';
import type { QuestionsView } from '../../../contracts/views.ts';
import { withoutId } from '../ask/answers.ts';
import { describeQuestion } from '../ask/ask-in-terminal.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { ifFound } from '../../client-error.ts';
import type { RunListing } from '../../run-listing.ts';
import { cleanLine, cleanText, type Paint } from '../terminal-text.ts';
import { readArtifact } from './report.ts';

export function registerQuestions(command: Command, runner: CommandRunner): void {
  command
    .option('--full', 'also print the whole arguments of calls that wait for approval')
    .action(
      runner((context, run: string | undefined, { full = false }: Options) =>
        run === undefined ? showInbox(context) : showQuestions(context, run, full),
      ),
    );
}

interface Options {
  readonly full?: boolean;
}

/** Runs whose questions are shown at once. More than that nobody reads, and each is one query. */
const inboxRunsMax = 50;

/** Shows what waits in every run, and in every wave, delegation, triad and team that was started by hand. */
async function showInbox(context: CommandContext): Promise<CommandResult> {
  const { client } = await context.session();
  const runs = await client.list({ waiting: true, limit: inboxRunsMax });
  const inbox = await Promise.all(
    runs.map(async (run) => ({ run, reading: await ifFound(client.questions(run.run_id)) })),
  );
  const waiting = inbox.map(({ run, reading }) => ({
    ...run,
    questions: reading?.live === true ? reading.view.open : null,
  }));
  const lines = waiting.flatMap((run) => ['', ...describeWaiting(context, run)]).slice(1);
  return { data: { runs: waiting }, lines: lines.length === 0 ? ['No open questions.'] : lines };
}

function describeWaiting(
  { paint }: CommandContext,
  {
    run_id,
    goal,
    waiting_for,
    questions,
  }: RunListing & { questions: QuestionsView['open'] | null },
): string[] {
  const open = questions ?? [];
  return [
    `${paint('strong', cleanLine(run_id))} · ${cleanLine(goal, 160)}`,
    // A parked run asks nothing, and where no worker answers the server knows only the first wait.
    ...(open.length === 0 ? waiting_for.map((wait) => cleanLine(wait, 300)) : []),
    ...open.flatMap((question) => describeOpen(paint, run_id, question)),
  ];
}

function describeOpen(paint: Paint, runId: string, question: Question): string[] {
  return [...describeQuestion(question, paint), `  answer with: ${answerCommand(runId, question)}`];
}

async function showQuestions(
  context: CommandContext,
  runId: string,
  full: boolean,
): Promise<CommandResult> {
  const { client } = await context.session();
  const reading = await client.questions(runId);
  if (reading.live) {
    const shown = full ? await readArguments(context, reading.view) : [];
    const whole = full ? { arguments: shown } : {};
    const data = { run_id: runId, source: 'worker', note: null, ...reading.view, ...whole };
    const lines = shown.flatMap(({ question_id, text }) => [
      '',
      `arguments of ${question_id}, whole (${text.length} characters):`,
      cleanText(text),
    ]);
    return { data, lines: [...describeView(context, runId, reading.view), ...lines] };
  }
  const { note, last_known } = reading;
  const open = last_known.open_questions ?? 0;
  return {
    data: { run_id: runId, source: 'server', note, last_known },
    lines: [
      countOf(open, 'open question'),
      ...last_known.waiting_for.map((wait) => cleanLine(wait, 300)),
      note,
    ],
  };
}

interface ShownArguments {
  readonly question_id: string;
  readonly arguments_ref: string;
  readonly text: string;
}

/** Reads the whole arguments of the calls that open questions are about, from the address at the end of each text. */
function readArguments(
  { deps }: CommandContext,
  { open }: QuestionsView,
): Promise<readonly ShownArguments[]> {
  const found = open.flatMap(({ question_id, kind, text }) => {
    const ref = findShownRef(text);
    return needsExplicitWord(kind) && ref !== null ? [{ question_id, arguments_ref: ref }] : [];
  });
  return Promise.all(
    found.map(async (one) => ({ ...one, text: await readArtifact(deps, one.arguments_ref) })),
  );
}

function describeView({ paint }: CommandContext, runId: string, view: QuestionsView): string[] {
  const { open, answered, rejected, rejected_total } = view;
  const openLines = open.flatMap((question) => [...describeOpen(paint, runId, question), '']);
  const answeredLines = answered.map(({ question_id, text, answer, answered_by, source_refs }) => {
    const from = source_refs.length === 0 ? '' : `, from ${cleanLine(source_refs.join(', '), 80)}`;
    return `  ${cleanLine(question_id)} ${cleanLine(text, 80)} → ${cleanLine(answer, 80)} (${cleanLine(answered_by, 40)}${from})`;
  });
  const rejectedLines = rejected.flatMap(({ question_id, reason, example }) => {
    const id = question_id ?? 'a message';
    return [
      `  ${cleanLine(id)}: ${cleanLine(withoutId(reason, id), 300)}`,
      ...(example === null ? [] : [`    for example: ${cleanLine(JSON.stringify(example), 300)}`]),
    ];
  });
  return [
    ...(open.length === 0 ? ['No open questions.'] : openLines.slice(0, -1)),
    ...(answered.length === 0 ? [] : ['', 'answered:', ...answeredLines]),
    ...(rejected.length === 0 ? [] : ['', `refused (${rejected_total}):`, ...rejectedLines]),
  ];
}
