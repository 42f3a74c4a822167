import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { engineLimits } from '../core/limits.ts';
import { PlanwaveClientError } from '../client/client-error.ts';
import { PlannerRunInput } from '../contracts/planner-run.ts';
import { messageOf } from '../core/text/message-of.ts';

/** The answer of a run that ended does not fit the schema that was asked for. It holds the answer. */
export class UnfitAnswer extends Error {
  override readonly name = 'UnfitAnswer';
  /** Markdown, as `RunOutcome` has it. */
  readonly answer: string;

  constructor(
    runId: string,
    answer: string,
    { reason, cure }: { readonly reason: string; readonly cure: string },
  ) {
    super(`The answer of run ${runId} does not fit the schema: ${reason}. Try: ${cure}`);
    this.answer = answer;
  }
}

/**
 * Describes to the planner that the answer is a JSON document of a schema.
 *
 * @throws {PlanwaveClientError} `bad_input` when the schema has values that JSON does not have, such as dates, and when it is
 * too long for a constraint
 */
export function describeSchema(schema: z.ZodType): string {
  const json = JSON.stringify(toJsonSchema(schema));
  const text = `The answer of the run is one JSON document in a fenced code block, without text around it, that fits this JSON Schema: ${json}`;
  if (!PlannerRunInput.shape.constraints.safeParse([text]).success) {
    throw new PlanwaveClientError(
      'bad_input',
      `result: expected a schema that fits into one constraint of the run; as JSON Schema it has ${json.length.toLocaleString('en')} characters, and about 3,800 fit. Try: shorter descriptions, fewer fields, or a record of fields that are alike`,
    );
  }
  return text;
}

function toJsonSchema(schema: z.ZodType): object {
  try {
    return z.toJSONSchema(schema, { io: 'input' });
  } catch (error) {
    throw new PlanwaveClientError(
      'bad_input',
      `result: expected a schema of values that JSON has; ${messageOf(error)}. Try: z.iso.datetime() for a time`,
      { cause: error },
    );
  }
}

/** Matches the last line of an answer that the run has cut. */
const cutLine = /\n\n… (\d+) characters in all; the whole is in (\S+)$/;

/**
 * Reads the whole of an answer that the run returned in part.
 *
 * @param resultPath Path of `result.md`, which has it, if the worker writes files on this machine.
 * @returns the answer as it is when it is whole, and when that file does not have it.
 */
export async function readWhole(answer: string, resultPath: string | null): Promise<string> {
  const chars = Number(cutLine.exec(answer)?.[1]);
  if (Number.isNaN(chars) || resultPath === null) return answer;
  const page = await readFile(resultPath, 'utf8').catch(() => '');
  const [, ...parts] = page.split('\n---\n');
  const whole = parts.join('\n---\n').trim();
  return whole.length === chars ? whole : answer;
}

/**
 * Reads the JSON document of an answer: the whole text, or its only fenced code block.
 *
 * @throws {UnfitAnswer} with the first reason
 */
export function readAnswer<S extends z.ZodType>(
  runId: string,
  answer: string,
  schema: S,
): z.output<S> {
  const [, fenced = answer] = /```(?:json)?\s*\n([^]*?)\n\s*```/.exec(answer) ?? [];
  const cure = 'a simpler schema, or none';
  let value: unknown;
  try {
    value = JSON.parse(fenced);
  } catch {
    throw new UnfitAnswer(
      runId,
      answer,
      describeCut(answer) ?? { reason: 'it is no JSON document', cure },
    );
  }
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const reason = z.prettifyError(read.error).replaceAll(/\s*\n\s*/g, ' ');
  throw new UnfitAnswer(runId, answer, { reason, cure });
}

function describeCut(answer: string): { readonly reason: string; readonly cure: string } | null {
  const [, chars, path] = cutLine.exec(answer) ?? [];
  if (chars === undefined || path === undefined) return null;
  return {
    reason: `it has ${chars} characters and was cut at ${engineLimits.returnedAnswerCharsMax}; the whole is in ${path}, but not below the home on this machine`,
    cure: 'the option home of createPlanwave, or a schema with less in it',
  };
}
