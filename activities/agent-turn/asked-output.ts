import { z } from 'zod';
import type { ModelTurnInput } from '../../contracts/model-turn.ts';
import { schemaForms } from '../../contracts/transcript.ts';
import type { SchemaForm, TranscriptNode } from '../../contracts/transcript.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ModelRequest } from '../ports/model-client.ts';
import type { SchemaTerms, Stage } from '../stages/stage.ts';
import { stageOf, stages } from '../stages/stages.ts';
import { jsonBlock } from '../text/blocks.ts';

/** Final text that a conversation asks for, with the form of its schema. */
export interface AskedOutput extends SchemaTerms {
  readonly stage: Stage;
}

/**
 * Reads what a conversation asks for: the terms set by the prompt that began it, and the form that the provider
 * accepted last, so that no refused form is tried again.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function readAsked(
  store: ArtifactStore,
  { stage: name, append, passable }: Pick<ModelTurnInput, 'stage' | 'append' | 'passable'>,
  nodes: readonly TranscriptNode[],
): Promise<AskedOutput> {
  const stage = stages[name];
  const form = nodes.findLast((node) => node.schema_form !== undefined)?.schema_form ?? 'whole';
  const settled = nodes.find((node) => node.planning !== undefined)?.planning;
  const begins = append.find((one) => one.type === 'prompt')?.prompt;
  const read = settled ?? (begins && (await stageOf(begins).readTerms?.(store, begins)));
  return { stage, planning: read ?? null, form, passes: passable !== undefined };
}

/** Adds the requested output to a request. Nothing is added for free text. */
export function addOutput(
  request: Omit<ModelRequest, 'output' | 'outputForm'>,
  asked: AskedOutput,
): ModelRequest {
  const { form, stage } = asked;
  const output = stage.reply.schemaFor(asked);
  if (output === null) return request;
  if (form === 'bare') return { ...request, output, outputForm: 'bare' };
  if (form !== 'in_prompt') return { ...request, output };
  const described = { text: describeSchema(output), cacheBreakpoint: false };
  const system = [...request.system, described];
  return { ...request, system, output, outputForm: 'unasked' };
}

/**
 * Returns the next smaller form of a schema that the provider refused, or null when there is none.
 *
 * SCF1. Each form asks for less than the one before; the last one describes the schema only in words.
 * SCF2. A form that would send the same bytes as the one before is left out.
 */
export function shrinkForm(asked: AskedOutput): SchemaForm | null {
  const schemaIn = (form: SchemaForm): z.ZodType | null =>
    asked.stage.reply.schemaFor({ ...asked, form });
  if (schemaIn(asked.form) === null) return null;
  const next = schemaForms[schemaForms.indexOf(asked.form) + 1];
  const isSame = next === 'single_agents' && schemaIn(next) === schemaIn(asked.form);
  return isSame ? 'bare' : (next ?? null);
}

/**
 * Describes the shape of a final answer as text, for a provider that accepts no schema. The text ends the system
 * prompt, where it is the same in all later calls of the conversation.
 */
function describeSchema(schema: z.ZodType): string {
  const { $schema: _dialect, ...shape } = z.toJSONSchema(schema);
  return `# The shape of your final answer
Your final answer is one JSON object that this JSON Schema allows, and nothing before or after it: no prose and no code fence. Every required property is there, and no property that is not listed.
${jsonBlock('output_schema', shape)}`;
}
