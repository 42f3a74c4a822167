import { answerCommand } from '../../../core/render/questions.ts';
import type { Command } from 'commander';
import type { OpenQuestion } from '../../../contracts/views.ts';
import type { PlanwaveClient } from '../../planwave-client.ts';
import { refuseEvaluation } from '../../run-listing.ts';
import type { AnswerResult } from '../../submit-answer.ts';
import { askInTerminal, chooseQuestion } from '../ask/ask-in-terminal.ts';
import {
  describeAnswerResult,
  isForOthers,
  parseAnswer,
  refusalText,
  resolveAnswer,
  signatureOf,
} from '../ask/answers.ts';
import { explainOtherHome } from '../other-home.ts';
import { badInput, CliError, exitCodes } from '../cli-error.ts';
import { type CliIo, readAll } from '../cli-io.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { addOptions, signerOption } from './input-options.ts';

interface Options {
  readonly as?: string;
}

export function registerAnswer(command: Command, runner: CommandRunner): void {
  addOptions(command, [signerOption]).action(
    runner(
      async (
        context,
        run: string,
        questionId: string | undefined,
        rest: readonly string[],
        options: Options,
      ) => {
        const words = questionId === undefined ? [] : [questionId, ...rest];
        const result = await answer(context, run, words, options.as);
        const elsewhere = await explainOtherHome(context, run);
        return elsewhere === null ? result : { ...result, lines: [...result.lines, elsewhere] };
      },
    ),
  );
}

async function answer(
  context: CommandContext,
  runId: string,
  words: readonly string[],
  signer: string | undefined,
): Promise<CommandResult> {
  const { client } = await context.session();
  const { io } = context.deps;
  const reading = await client.questions(runId);
  // Before an answer is asked for.
  if (!reading.live) refuseEvaluation(reading.last_known);
  const open = reading.live ? reading.view.open : null;
  const note = reading.live ? null : reading.note;
  const target = resolveAnswer(words, open, note);
  if (target.type === 'unclear') throw badInput(target.message);
  const typed = target.text === '-' ? await readPiped(io) : target.text;
  if (target.type === 'id_only') {
    const sent = { question_id: target.question_id, answer: typed, ...signatureOf(signer) };
    return toResult(runId, await client.answer(runId, sent, { workerIsAway: open === null }));
  }
  if (typed === null && (context.json || !io.isTerminal)) {
    throw missingAnswer(runId, target.candidates);
  }
  const question = await pickQuestion(target.candidates, io);
  if (question === undefined) return nothingSent(runId);
  if (typed === null) return askUntilTaken(io, client, runId, { question, signer });
  const { question_id } = question;
  const sent = { question_id, answer: parseAnswer(question, typed), ...signatureOf(signer) };
  return toResult(runId, await client.answer(runId, sent));
}

/** Reads piped input without the line end that `echo` adds. */
async function readPiped(io: CliIo): Promise<string> {
  return (await readAll(io.stdin)).replace(/\r?\n$/, '');
}

function pickQuestion(
  candidates: readonly OpenQuestion[],
  io: CliIo,
): Promise<OpenQuestion | undefined> {
  const [only, ...others] = candidates;
  return others.length === 0 ? Promise.resolve(only) : chooseQuestion(candidates, io);
}

interface Asking {
  readonly question: OpenQuestion;
  readonly signer: string | undefined;
}

/** Asks until an answer is accepted: a refused one is explained, and the question is asked again. */
async function askUntilTaken(
  io: CliIo,
  client: PlanwaveClient,
  runId: string,
  { question, signer }: Asking,
): Promise<CommandResult> {
  const { question_id } = question;
  for (;;) {
    const given = await askInTerminal(question, io, { signer });
    if (given === undefined) return nothingSent(runId);
    const result = await client.answer(runId, { question_id, ...given, ...signatureOf(signer) });
    if (result.status !== 'refused' || isForOthers(question, signer)) {
      return toResult(runId, result);
    }
    io.stdout.write(`${describeAnswerResult(runId, result).join('\n')}\n`);
  }
}

function toResult(runId: string, result: AnswerResult): CommandResult {
  if (result.status === 'refused') {
    const { reason, example, question_id } = result;
    throw new CliError('refused', exitCodes.refused, refusalText(runId, result), {
      question_id,
      reason,
      example,
    });
  }
  return {
    data: { run_id: runId, ...result },
    lines: describeAnswerResult(runId, result),
  };
}

function nothingSent(runId: string): CommandResult {
  return {
    data: { run_id: runId, status: 'nothing_sent' },
    lines: ['No answer was sent; the question stays open.'],
  };
}

function missingAnswer(runId: string, candidates: readonly OpenQuestion[]): CliError {
  const commands = candidates.map((question) => answerCommand(runId, question));
  return badInput(
    commands.length === 1
      ? `The answer is missing. Try: ${commands[0] ?? ''}`
      : ['The question and its answer are missing. Try one of:', ...commands].join('\n  '),
  );
}
