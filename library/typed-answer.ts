import { z } from 'zod';
import { messageOf } from '../core/text/message-of.ts';
import { PlanwaveClientError } from '../client/client-error.ts';
import { PlannerRunInput } from '../contracts/planner-run.ts';

/** The answer of a run that ended does not fit the schema that was asked for. Nothing is lost: it holds the answer. */
export class UnfitAnswer extends Error {
  override readonly name = 'UnfitAnswer';
  /** Markdown, as the run returned it. */
  readonly answer: string;

  constructor(runId: string, answer: string, reason: string) {
    super(
      `The answer of run ${runId} does not fit the schema: ${reason}. Try: a simpler schema, or none`,
    );
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
  let value: unknown;
  try {
    value = JSON.parse(fenced);
  } catch {
    throw new UnfitAnswer(runId, answer, 'it is no JSON document');
  }
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new UnfitAnswer(runId, answer, z.prettifyError(read.error).replaceAll(/\s*\n\s*/g, ' '));
}
