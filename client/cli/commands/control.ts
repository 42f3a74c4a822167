import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { CommandRunner } from '../command-runner.ts';
import { badInput, CliError, exitCodes } from '../cli-error.ts';
import { cleanLine } from '../terminal-text.ts';
import type { PlanwaveClient } from '../../planwave-client.ts';
import type { QuestionsView } from '../../../contracts/views.ts';
import type { AmendMessage } from '../../../contracts/messages.ts';
import type { UserFact } from '../../../contracts/agent-output.ts';
import { amendRefusal } from '../../../core/run/check-control.ts';
import { commandText } from '../../../core/text/format.ts';

const effects = {
  pause: 'Calls in flight finish, nothing new starts.',
  resume: 'The run goes on.',
  stop: 'The run ends with what there is.',
} as const;

/** Registers a command that sends a signal: the server records it, and a worker processes it as soon as there is one. */
export function registerControl(name: keyof typeof effects) {
  return (command: Command, runner: CommandRunner): void => {
    command.action(
      runner(async ({ session }, run: string, words: readonly string[]) => {
        const { client } = await session();
        const effect = name === 'resume' ? await foreseeResume(client, run) : effects[name];
        const reason = words.join(' ').trim();
        const sent = await client[name](run, reason === '' ? {} : { reason });
        return {
          data: { run_id: run, sent: name, reason: sent.reason ?? null },
          lines: [`${name} was sent to ${run}. ${effect} See: ${commandText('watch', run)}`],
        };
      }),
    );
  };
}

/**
 * Says what a resume will do. A run that is stopping needs one only where it is parked or paused, to write its result.
 *
 * @throws CliError for a run that is stopping otherwise
 */
async function foreseeResume(client: PlanwaveClient, runId: string): Promise<string> {
  const reading = await client.status(runId);
  if (!reading.live) return 'The run goes on, unless it is stopping.';
  const { stop_reason, parked_reason, paused_reason, phase } = reading.view;
  if (stop_reason === undefined) return phase === 'ending' ? effects.stop : effects.resume;
  if (parked_reason !== null || paused_reason !== null) return effects.stop;
  const message =
    `Run ${runId} is stopping and ends with what there is. There is nothing to resume, so nothing was sent. ` +
    `Try: ${commandText('watch', runId)}`;
  throw new CliError('refused', exitCodes.refused, message);
}

interface Options {
  readonly waive?: readonly string[];
  readonly answer?: readonly string[];
  readonly fact?: readonly string[];
}

export function registerAmend(command: Command, runner: CommandRunner): void {
  command
    .option('--waive <criterion...>', 'ids of criteria to waive')
    .option('--answer <question=answer...>', 'answers to change, for example q1=EU')
    .option(
      '--fact <key=value...>',
      'facts that the instruction settles, for example "backup region=EU"',
    )
    .action(
      runner(async ({ session }, run: string, text: string, options: Options) => {
        const { waive = [], answer = [], fact = [] } = options;
        const instruction = text.trim();
        if (instruction === '') throw badInput('The instruction is empty.');
        const answers = answer.map(readAnswer);
        const facts = fact.map(readFact);
        const { client } = await session();
        const sent = await amend(client, run, {
          instruction,
          ...(waive.length === 0 ? {} : { waive_criteria: waive }),
          ...(answers.length === 0 ? {} : { answers }),
          ...(facts.length === 0 ? {} : { facts }),
        });
        return {
          data: {
            run_id: run,
            sent: 'amend',
            instruction: sent.instruction,
            waive_criteria: waive,
            answers: sent.answers ?? [],
            facts: sent.facts ?? [],
          },
          lines: [
            `The instruction was sent to ${run}; its agents and its planner read it with their next model call. ` +
              `See: ${commandText('watch', run)}`,
          ],
        };
      }),
    );
}

/** Longest wait for the check of changed answers, in milliseconds. */
const judgingMs = 5_000;
const lookEveryMs = 250;

/**
 * Sends an instruction. A signal can't be refused, so what the run says about it is read afterwards, where a worker
 * tells it.
 *
 * @throws CliError when the run refused the whole message.
 */
async function amend(
  client: PlanwaveClient,
  runId: string,
  message: AmendMessage,
): Promise<AmendMessage> {
  const before = await readQuestions(client, runId);
  const sent = await client.amend(runId, message);
  if (before === null) return sent;
  const isChecked = message.answers !== undefined;
  for (let waited = 0; waited <= judgingMs; waited += lookEveryMs) {
    const after = await readQuestions(client, runId);
    if (after === null) return sent;
    const count = after.rejected_total - before.rejected_total;
    const reasons = after.rejected
      .slice(-count)
      .map(({ reason }) => reason)
      .filter((reason) => count > 0 && reason.startsWith(amendRefusal));
    if (reasons.length > 0) throw refused(reasons);
    // Changed answers are checked against the record, which takes a moment; everything else is checked at once.
    if (!isChecked || JSON.stringify(after.answered) !== JSON.stringify(before.answered)) break;
    await sleep(lookEveryMs);
  }
  return sent;
}

function refused(reasons: readonly string[]): CliError {
  const why = reasons.map((reason) => cleanLine(reason.slice(amendRefusal.length)));
  const text = `The run did not take the instruction: ${why.join('; ')}`;
  return new CliError('refused', exitCodes.refused, text, { reasons: why });
}

/** @returns null when no worker answers. */
async function readQuestions(client: PlanwaveClient, runId: string): Promise<QuestionsView | null> {
  const reading = await client.questions(runId);
  return reading.live ? reading.view : null;
}

function readAnswer(text: string): { readonly question_id: string; readonly answer: string } {
  const [question_id, answer] = readPair(
    text,
    '--answer takes a question and its new answer',
    '--answer q1=EU',
  );
  return { question_id, answer };
}

function readFact(text: string): UserFact {
  const [key, value] = readPair(
    text,
    '--fact takes a key and its value',
    '--fact "backup region=EU"',
  );
  return { key, value };
}

/** Splits a pair at the first `=`. @throws PlanwaveCliError when a side is empty. */
function readPair(text: string, what: string, example: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) {
    throw badInput(`${what}, not "${text}". Try: ${example}`);
  }
  return [text.slice(0, at), text.slice(at + 1)];
}
