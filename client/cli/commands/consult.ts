import type { Command } from 'commander';
import { formatUsage, commandText } from '../../../core/text/format.ts';
import { describeChoices } from '../../../core/text/list-names.ts';
import { badInput } from '../cli-error.ts';
import { confirm, readLine } from '../cli-io.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { cleanLine, cleanText } from '../terminal-text.ts';
import {
  consultedRoles,
  questionCharsMax,
  type ConsultationResult,
  type ConsultedRole,
} from '../../../contracts/design-run.ts';

export function registerAsk(command: Command, runner: CommandRunner): void {
  command.action(
    runner(async (context, run: string, role: string, question: string) => {
      const input = { run_id: run, role: readRole(role), question: readQuestion(question) };
      const { client } = await context.session();
      const result = await client.consult(input);
      return { data: { ...input, ...result }, lines: describeAnswer(context, result) };
    }),
  );
}

export function registerTalk(command: Command, runner: CommandRunner): void {
  command.action(
    runner((context, run: string, role: string) => talk(context, run, readRole(role))),
  );
}

/** One question after the other. An instruction is sent only after the user confirmed its text. */
async function talk(
  context: CommandContext,
  run_id: string,
  role: ConsultedRole,
): Promise<CommandResult> {
  const { io } = context.deps;
  if (context.json || !io.isTerminal) {
    const cure = commandText('ask', run_id, role, 'Why this order?');
    throw badInput(`A conversation needs a terminal. Try: ${cure}`);
  }
  const { client } = await context.session();
  const said: string[] = [];
  for (;;) {
    // One question after the other.
    // oxlint-disable-next-line no-await-in-loop
    const typed = (await readLine(io, `You to the ${role} (Enter alone ends): `))?.trim() ?? '';
    if (typed === '') return { data: undefined, lines: [] };
    const excess = describeExcess(typed);
    if (excess !== null) {
      io.stdout.write(`${excess}\n`);
      continue;
    }
    const question = withBefore(said, typed);
    // oxlint-disable-next-line no-await-in-loop
    const result = await client.consult({ run_id, role, question });
    const { answer, amendment: instruction } = result;
    // The question whether to send it shows the instruction.
    const shown = describeAnswer(context, { ...result, amendment: null });
    io.stdout.write(`${shown.join('\n')}\n`);
    said.push(`User: ${typed}`, `You: ${answer}`);
    if (instruction === null) continue;
    // oxlint-disable-next-line no-await-in-loop
    const isSent = await confirmAmendment(context, instruction);
    said.push(`You worded: ${instruction}`, `The user ${isSent ? 'sent' : 'did not send'} it.`);
    if (!isSent) continue;
    // oxlint-disable-next-line no-await-in-loop
    await client.amend(run_id, { instruction });
    io.stdout.write(`The instruction was sent to ${run_id}.\n`);
  }
}

async function confirmAmendment({ deps: { io } }: CommandContext, text: string): Promise<boolean> {
  const shown = `Send this to the run as your instruction?\n  ${cleanLine(text, 2_000)}\n`;
  return confirm(io, shown);
}

/** Adds what was said before, the newest of it, as far as there is room. */
function withBefore(said: readonly string[], question: string): string {
  const room = questionCharsMax - question.length - 40;
  if (said.length === 0 || room <= 0) return question;
  return `Before:\n${said.join('\n').slice(-room)}\n\nNow the user asks: ${question}`;
}

function describeAnswer(
  { paint }: CommandContext,
  { agent_id, answer, amendment, usage }: ConsultationResult,
): string[] {
  return [
    paint('strong', `${cleanLine(agent_id)}:`),
    ...cleanText(answer).trimEnd().split('\n'),
    ...(amendment === null ? [] : ['', `Possible instruction: ${cleanLine(amendment, 2_000)}`]),
    paint('quiet', `${formatUsage(usage)}, besides those of the run. Nothing was changed.`),
  ];
}

function readRole(role: string): ConsultedRole {
  const found = consultedRoles.find((one) => one === role);
  if (found !== undefined) return found;
  throw badInput(`There is no "${role}" to ask: ${describeChoices(role, consultedRoles)}`);
}

function readQuestion(text: string): string {
  const question = text.trim();
  if (question === '') throw badInput('The question is empty.');
  const excess = describeExcess(question);
  if (excess !== null) throw badInput(excess);
  return question;
}

/** Says that a question is too long; null when it fits. */
function describeExcess({ length }: string): string | null {
  if (length <= questionCharsMax) return null;
  return `The question has ${length} characters; at most ${questionCharsMax} fit. Try: a shorter one.`;
}
