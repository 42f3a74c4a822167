import type { z } from 'zod';
import { stages } from '../../../activities/stages/stages.ts';
import { stageNames } from '../../../contracts/names.ts';
import type { Delegation } from '../../../contracts/delegation.ts';
import type { Prompt, TurnInput } from '../../../contracts/model-turn.ts';
import type { RunRecord, StoredAnswer, StoredWave } from '../../../contracts/run-record.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { sayText } from '../../support/scripted-model.ts';
import { createBench, decision, outputOf } from './bench.ts';
import type { Bench } from './bench.ts';
import type { Fact } from '../../../contracts/agent-output.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';

export const factOf = (n: number, changes: Partial<Fact> = {}): Fact => ({
  fact_id: `f${n}`,
  key: null,
  value: null,
  statement: `Statement ${n}.`,
  source_refs: ['wave-001/research'],
  confidence: 'high',
  is_assumption: false,
  origin: 'agent',
  superseded_by: null,
  recorded_at: 1,
  ...changes,
});

export const answered: StoredAnswer = {
  question_id: 'q1',
  text: 'Which region?',
  delegation_id: null,
  answer: 'EU',
  answered_by: 'user',
  source_refs: [],
  answered_at: 5,
  answer_ref: null,
  question: null,
};

/** A delegation as whoever does it is shown it. */
export const taskOf = ({
  delegation_id,
  title,
  task_description,
  acceptance_criteria,
  required_inputs,
}: Delegation) => ({
  delegation_id,
  title,
  task_description,
  acceptance_criteria,
  required_inputs,
});

/** The text of the first user message. */
export async function render(bench: Bench, append: readonly TurnInput[]): Promise<string> {
  return (await renderParts(bench, append)).join('\n\n');
}

/** The same as the parts that it is made of. */
export async function renderParts(bench: Bench, append: readonly TurnInput[]): Promise<string[]> {
  await bench.turn({ append });
  const blocks = bench.model.requests.at(-1)?.messages.at(-1)?.content ?? [];
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

export const blockOf = (text: string, name: string): string => {
  const found = new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(text)?.[1];
  if (found === undefined) throw new Error(`no block ${name} in:\n${text}`);
  return found;
};

export function jsonOf(text: string, name: string): unknown {
  return JSON.parse(blockOf(text, name));
}

export async function createRun(record: Partial<RunRecord> = {}) {
  const draft = await createBench();
  const decision_ref = await draft.store.put(JSON.stringify(decision));
  const wave: StoredWave = {
    wave: 1,
    status: 'decided',
    plan_ref: draft.plan_ref,
    outcomes: [],
    decision_ref,
    usage: noUsage,
    planned_at: 1,
    done_at: 2,
    shown: null,
  };
  const bench = await createBench({
    scripts: [sayText('')],
    record: { waves: [wave], answered_questions: [answered], ...record },
  });
  await bench.store.put(JSON.stringify(decision));
  const output_ref = await bench.store.put(JSON.stringify(outputOf()));
  return { bench, output_ref };
}

export const planPrompt = (
  bench: Bench,
  changes: Partial<Extract<Prompt, { kind: 'plan' }>> = {},
) => [
  {
    type: 'prompt' as const,
    prompt: {
      kind: 'plan' as const,
      wave: 2,
      waves_left: 3,
      record_ref: bench.record_ref,
      registry_ref: bench.registry_ref,
      open_criteria: ['c1'],
      known_inputs: ['goal'],
      max_delegations: 7,
      triad_models: null,
      teams: false,
      amendments: [],
      ...changes,
    },
  },
];

/** Every schema that a provider is asked for, each once, by the stage that asks for it first. */
export function listSchemas(): [name: string, schema: z.ZodType][] {
  const asked = stageNames.flatMap((name) =>
    [false, true].flatMap((passes) => {
      const terms = { planning: null, form: 'whole', passes } as const;
      const schema = stages[name].reply.schemaFor(terms);
      return schema === null ? [] : [[schema, passes ? `${name}, passing on` : name] as const];
    }),
  );
  return [...new Map(asked.toReversed())].map(([schema, name]) => [name, schema]);
}

/** An outcome without an output, as a decision's prompt has it. */
export const outcome = (changes: Partial<DelegationOutcome>) => ({
  delegation_id: 'write-report',
  status: 'completed' as const,
  reason: '',
  turns: 1,
  output_ref: null,
  criteria_met: [],
  criteria_unmet: [],
  executor_end: null,
  ...changes,
});
