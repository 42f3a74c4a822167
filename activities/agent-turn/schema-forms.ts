import type { z } from 'zod';
import { PassingOutput } from '../../contracts/agent-output.ts';
import type { ModelTurnInput, OutputShape } from '../../contracts/model-turn.ts';
import { schemaForms } from '../../contracts/transcript.ts';
import type {
  PlanningTerms,
  PlanParts,
  SchemaForm,
  TranscriptNode,
} from '../../contracts/transcript.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ModelRequest } from '../ports/model-client.ts';
import { describeSchema } from '../prompts/describe-schema.ts';
import { describeStale } from '../prompts/describe-stale.ts';
import { readRecord } from '../artifacts/read-record.ts';
import { offerPlan } from './offered-plan.ts';
import { isFree, outputSchemas } from './read-output.ts';

/** What a conversation asks for as its final text, and in which form. */
export interface AskedOutput {
  readonly shape: OutputShape;
  /** What a plan may hold; null in a conversation about something else. */
  readonly planning: PlanningTerms | null;
  readonly form: SchemaForm;
  /** Whether an agent's output may pass texts of others on. */
  readonly passes: boolean;
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
  { shape, append, passable }: Pick<ModelTurnInput, 'shape' | 'append' | 'passable'>,
  nodes: readonly TranscriptNode[],
): Promise<AskedOutput> {
  const form = nodes.findLast((node) => node.schema_form !== undefined)?.schema_form ?? 'whole';
  const passes = passable !== undefined;
  const settled = nodes.find((node) => node.planning !== undefined)?.planning;
  if (settled !== undefined) return { shape, planning: settled, form, passes };
  const begins = append.find((one) => one.type === 'prompt')?.prompt;
  if (begins?.kind !== 'plan') return { shape, planning: null, form, passes };
  const record = await readRecord(store, begins.record_ref);
  const planning = {
    known_inputs: begins.known_inputs,
    triads: begins.triad_models !== null,
    teams: begins.teams,
    redoes: describeStale(record).length > 0,
  };
  return { shape, planning, form, passes };
}

/** A request that asks for the output. Where that is free text, nothing is added. */
export function addOutput(
  request: Omit<ModelRequest, 'output' | 'outputForm'>,
  asked: AskedOutput,
): ModelRequest {
  const { form } = asked;
  const output = findSchema(asked);
  if (output === null) return request;
  if (form === 'bare') return { ...request, output, outputForm: 'bare' };
  if (form !== 'in_prompt') return { ...request, output };
  const described = { text: describeSchema(output), cacheBreakpoint: false };
  const system = [...request.system, described];
  return { ...request, system, output, outputForm: 'unasked' };
}

/** @returns null for free text. */
function findSchema({ shape, planning, form, passes }: AskedOutput): z.ZodType | null {
  if (isFree(shape)) return null;
  if (shape === 'wave_plan') return offerPlan(shrinkParts(planning ?? wholePlan, form));
  return shape === 'agent_output' && passes ? PassingOutput : outputSchemas[shape];
}

/**
 * The next smaller form of a schema that the provider refused, or null when there is none.
 *
 * SCF1. Each form asks for less than the one before; the last one asks for nothing but in words.
 * SCF2. A form that would send the same bytes as the one before is left out.
 */
export function shrinkForm({ shape, planning, form }: AskedOutput): SchemaForm | null {
  if (isFree(shape)) return null;
  const next = schemaForms[schemaForms.indexOf(form) + 1];
  const isSame =
    next === 'single_agents' && !(shape === 'wave_plan' && mayShare(planning ?? wholePlan));
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
