import { countOf } from '../../../core/text/format.ts';
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

/** Runs that are asked at the same time: each is one query to a worker. */
const askedAtOnceMax = 50;

/** Shows what waits in every run, and in every wave, delegation, triad and team that was started by hand. */
async function showInbox(context: CommandContext): Promise<CommandResult> {
  const { client } = await context.session();
  const runs = await client.list({ waiting: true, limit: Infinity });
  const waiting: WaitingRun[] = [];
  for (let at = 0; at < runs.length; at += askedAtOnceMax) {
    const batch = runs.slice(at, at + askedAtOnceMax);
    // Bounded, because each query is work for a worker.
    // oxlint-disable-next-line no-await-in-loop
    const readings = await Promise.all(batch.map((run) => ifFound(client.questions(run.run_id))));
    waiting.push(
      ...batch.map((run, nth) => {
        const reading = readings[nth];
        return { ...run, questions: reading?.live === true ? reading.view.open : null };
      }),
    );
  }
  const lines = waiting.flatMap((run) => ['', ...describeWaiting(context, run)]).slice(1);
  return { data: { runs: waiting }, lines: lines.length === 0 ? ['No open questions.'] : lines };
}

/** Run that waits for a person. Its questions are null while no worker answers. */
type WaitingRun = RunListing & { readonly questions: QuestionsView['open'] | null };

function describeWaiting(
  { paint }: CommandContext,
  { run_id, goal, waiting_for, questions }: WaitingRun,
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
  const found = open.flatMap((question) => {
    const ref = findShownRef(question);
    return ref === null ? [] : [{ question_id: question.question_id, arguments_ref: ref }];
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
