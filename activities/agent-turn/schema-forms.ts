import type { ModelTurnInput, OutputShape } from '../../contracts/model-turn.ts';
import { schemaForms } from '../../contracts/transcript.ts';
import type { PlanParts, SchemaForm, TranscriptNode } from '../../contracts/transcript.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ModelRequest } from '../ports/model-client.ts';
import { describeSchema } from '../prompts/describe-schema.ts';
import { describeStale } from '../prompts/describe-stale.ts';
import { readRecord } from '../run-record/read-record.ts';
import { offerPlan } from './offered-plan.ts';
import { isFree, outputSchemas } from './read-output.ts';

/** What a conversation asks for as its final text, and in which form. */
export interface AskedOutput {
  readonly shape: OutputShape;
  /** Of a plan. */
  readonly parts: PlanParts;
  readonly form: SchemaForm;
}

/** What is offered where no prompt says what the run allows. */
const wholePlan: PlanParts = { triads: true, teams: true, redoes: true };

/**
 * What a conversation asks for: of a plan, the parts that the prompt allows which began it; and the form that the provider
 * took last, so that no form is tried again which it refused.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function readAsked(
  store: ArtifactStore,
  { shape, append }: Pick<ModelTurnInput, 'shape' | 'append'>,
  nodes: readonly TranscriptNode[],
): Promise<AskedOutput> {
  const form = nodes.findLast((node) => node.schema_form !== undefined)?.schema_form ?? 'whole';
  const settled = nodes.find((node) => node.plan_parts !== undefined)?.plan_parts;
  if (settled !== undefined) return { shape, parts: settled, form };
  const begins = append.find((one) => one.type === 'prompt')?.prompt;
  if (begins?.kind !== 'plan') return { shape, parts: wholePlan, form };
  const record = await readRecord(store, begins.record_ref);
  const parts = {
    triads: begins.triad_models !== null,
    teams: begins.teams,
    redoes: describeStale(record).length > 0,
  };
  return { shape, parts, form };
}

/** A request that asks for the output. Where that is free text, nothing is added. */
export function addOutput(
  request: Omit<ModelRequest, 'output' | 'outputForm'>,
  { shape, parts, form }: AskedOutput,
): ModelRequest {
  if (isFree(shape)) return request;
  const output = shape === 'wave_plan' ? offerPlan(shrinkParts(parts, form)) : outputSchemas[shape];
  if (form === 'bare') return { ...request, output, outputForm: 'bare' };
  if (form !== 'in_prompt') return { ...request, output };
  const described = { text: describeSchema(output), cacheBreakpoint: false };
  const system = [...request.system, described];
  return { ...request, system, output, outputForm: 'unasked' };
}

/**
 * The next smaller form of a schema that the provider refused, or null when there is none.
 *
 * SCF1. Each form asks for less than the one before; the last one asks for nothing but in words.
 * SCF2. A form that would send the same bytes as the one before is left out.
 */
export function shrinkForm({ shape, parts, form }: AskedOutput): SchemaForm | null {
  if (isFree(shape)) return null;
  const next = schemaForms[schemaForms.indexOf(form) + 1];
  const isSame = next === 'single_agents' && !(shape === 'wave_plan' && mayShare(parts));
  return isSame ? 'bare' : (next ?? null);
}

function mayShare({ triads, teams }: PlanParts): boolean {
  return triads || teams;
}

/** Described in words, a plan is whole again: words are no grammar. */
function shrinkParts(parts: PlanParts, form: SchemaForm): PlanParts {
  const isShrunk = form === 'single_agents' || form === 'bare';
  return isShrunk ? { ...parts, triads: false, teams: false } : parts;
}
