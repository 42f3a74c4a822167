import type { z } from 'zod';
import { AgentOutput, PassingOutput } from '../../contracts/agent-output.ts';
import type { Passable } from '../../contracts/agent-output.ts';
import type { OutputShape } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { QuestionReview } from '../../contracts/question-review.ts';
import { WaveDecision } from '../../contracts/wave-decision.ts';
import { WavePlan } from '../../contracts/wave-plan.ts';
import { cutText } from '../../core/text/cut-text.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { describeIssues, wholePath } from '../text/describe-issues.ts';
import { passOn } from './pass-on.ts';
import { readCode } from './read-code.ts';

export type Output =
  | { readonly shape: 'wave_plan'; readonly value: WavePlan }
  | { readonly shape: 'agent_output'; readonly value: AgentOutput }
  | { readonly shape: 'wave_decision'; readonly value: WaveDecision }
  | { readonly shape: 'question_review'; readonly value: QuestionReview }
  | { readonly shape: 'member_turn' | 'code'; readonly value: string };

export type ReadOutput =
  | { readonly ok: true; readonly output: Output }
  | { readonly ok: false; readonly faults: readonly OutputFault[] };

/** What the provider is asked for. A plan is offered with the parts that the run allows (`offerPlan`). */
export const outputSchemas = {
  agent_output: AgentOutput,
  wave_decision: WaveDecision,
  question_review: QuestionReview,
} as const satisfies Record<Exclude<OutputShape, FreeShape | 'wave_plan'>, z.ZodType>;

/** The shapes that are free text, which no schema describes. */
type FreeShape = 'member_turn' | 'code';

export function isFree(shape: OutputShape): shape is FreeShape {
  return shape === 'member_turn' || shape === 'code';
}

/**
 * Reads the final text of somebody who may pass texts on, and adds them.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function readPassingOutput(
  store: ArtifactStore,
  text: string,
  passable: readonly Passable[],
): Promise<ReadOutput> {
  const json = parseFinalText(text);
  if ('fault' in json) return { ok: false, faults: [json.fault] };
  const parsed = PassingOutput.safeParse(json.value);
  if (!parsed.success) return { ok: false, faults: describeIssues(parsed.error) };
  const passed = await passOn(store, parsed.data, passable);
  if (!passed.ok) return passed;
  return { ok: true, output: { shape: 'agent_output', value: passed.value } };
}

/** Reads a final text. Nothing is mended: what does not fit goes back to the model with every fault at once. */
export function readOutput(shape: OutputShape, text: string): ReadOutput {
  if (shape === 'member_turn') return { ok: true, output: { shape, value: text } };
  if (shape === 'code') {
    const read = readCode(text);
    return read.ok ? { ok: true, output: { shape, value: read.code } } : read;
  }
  return readJsonOutput(shape, text);
}

/** An output as it is stored. */
export function toText({ value }: Output): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function readJsonOutput(shape: Exclude<OutputShape, FreeShape>, text: string): ReadOutput {
  const json = parseFinalText(text);
  if ('fault' in json) return { ok: false, faults: [json.fault] };
  switch (shape) {
    case 'wave_plan':
      return check(WavePlan, json.value, (value) => ({ shape, value }));
    case 'agent_output':
      return check(AgentOutput, json.value, (value) => ({ shape, value }));
    case 'wave_decision':
      return check(WaveDecision, json.value, (value) => ({ shape, value }));
    case 'question_review':
      return check(QuestionReview, json.value, (value) => ({ shape, value }));
  }
}

function check<T>(schema: z.ZodType<T>, value: unknown, wrap: (value: T) => Output): ReadOutput {
  const parsed = schema.safeParse(value);
  return parsed.success
    ? { ok: true, output: wrap(parsed.data) }
    : { ok: false, faults: describeIssues(parsed.error) };
}

/** The JSON of a final text. A fence of ```json around the whole is taken off; prose around it is not. */
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
  const said = cutText(error instanceof Error ? error.message : String(error), 200);
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
