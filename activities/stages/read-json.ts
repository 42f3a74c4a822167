import type { z } from 'zod';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { describeIssues, wholePath } from '../text/describe-issues.ts';
import type { RefusedReply } from './stage.ts';
import { messageOf } from '../../core/text/message-of.ts';

/** Reads a final text that must be one JSON object of a schema. */
export function readJson<T>(
  schema: z.ZodType<T>,
  text: string,
): { readonly ok: true; readonly value: T } | RefusedReply {
  const json = parseFinalText(text);
  if ('fault' in json) return { ok: false, faults: [json.fault] };
  const parsed = schema.safeParse(json.value);
  return parsed.success
    ? { ok: true, value: parsed.data }
    : { ok: false, faults: describeIssues(parsed.error) };
}

/** Parses the JSON of a final text. A fence of ```json around the whole is removed; prose around it is not. */
function parseFinalText(text: string): { value: unknown } | { fault: OutputFault } {
  const trimmed = text.trim();
  const isFenced = trimmed.startsWith('```json') && trimmed.endsWith('```') && trimmed.length > 10;
  const json = isFenced ? trimmed.slice('```json'.length, -'```'.length) : trimmed;
  try {
    return { value: JSON.parse(json) as unknown };
  } catch (error) {
    return { fault: describeBroken(json.trim(), error) };
  }
}

function describeBroken(json: string, error: unknown): OutputFault {
  const said = cutText(messageOf(error), 200);
  if (!json.startsWith('{')) {
    return {
      path: wholePath,
      reason: `the answer is not JSON alone: it begins with ${JSON.stringify(cutText(json, 40))}`,
      hint: 'Try: give one JSON object, and nothing before or after it.',
    };
  }
  return {
    path: wholePath,
    reason: `the JSON is broken, or text follows it: ${said}`,
    hint: 'Try: give one whole JSON object with every string quoted and escaped, and nothing after it.',
  };
}
