import type { z } from 'zod';
import { CoordinationPlan } from '../../contracts/coordination-plan.ts';
import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type { DesignPrompt } from '../../contracts/design.ts';
import type { DesignStageName } from '../../contracts/names.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { readAgents, readShape } from '../artifacts/read-artifact.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import {
  renderAgents,
  renderAnsweredQuestions,
  renderRunBlocks,
} from '../prompts/common-blocks.ts';
import { markData } from '../prompts/mark-data.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { jsonBlock, listBlock, textBlock } from '../text/blocks.ts';
import { readJson } from './read-json.ts';
import { jsonReply, plannerSystem } from './stage.ts';
import type { Stage } from './stage.ts';

interface DesignStageTerms<T> {
  readonly stage: DesignStageName;
  readonly schema: z.ZodType<T>;
  /** System prompt: what the reply must hold, for a reader who sees nothing else. */
  readonly rules: string;
  /** One sentence: what is asked for now. */
  readonly request: string;
  readonly tools?: Stage['tools'];
}

/** The parts of a reply that the workflow needs. A stage's schema has some of them. */
interface Outlined {
  readonly user_questions?: readonly AskedQuestion[];
  readonly technologies?: readonly string[];
  readonly proofs_of_concept?: readonly unknown[];
  readonly findings?: readonly Omit<PlanFinding, 'rule'>[];
}

/** Creates the stage of one reply of a design. All of them read what stages before them gave. */
export function defineDesignStage<T extends object>(
  terms: DesignStageTerms<T>,
): Stage<DesignPrompt> {
  const { stage, schema, rules, request, tools = 'none' } = terms;
  return {
    reply: {
      ...jsonReply,
      shape: 'design',
      schemaFor: () => schema,
      async take(text) {
        const read = readJson(schema, text);
        if (!read.ok) return read;
        const value: Outlined = read.value;
        const {
          user_questions = [],
          technologies = [],
          proofs_of_concept = [],
          findings = [],
        } = value;
        return {
          ok: true,
          text: JSON.stringify(read.value),
          outline: (ref) => ({
            shape: 'design',
            reply: {
              stage,
              ref,
              user_questions,
              technologies,
              proofs_of_concept: proofs_of_concept.length,
              findings: findings.map((one) => ({ rule: 'verifier', ...one })),
            },
          }),
        };
      },
    },
    tools,
    system: plannerSystem(() => rules),
    async render(store, prompt, { registry_ref, callKey, tools: registry }) {
      const record = await readRecord(store, prompt.record_ref);
      const { subject, findings, requested_change } = prompt;
      const about = subject === null ? '' : ` subject=${JSON.stringify(subject)}`;
      const text = [
        `<request kind="${stage}"${about}>\n${request}\n</request>`,
        ...renderRunBlocks(record, prompt.amendments),
        ...(requested_change === null
          ? []
          : [textBlock('requested_change', requested_change, blockBytesMax.requested_change)]),
        markData(
          [
            await renderAnsweredQuestions(store, record),
            renderAgents(await readAgents(store, registry_ref), registry),
            ...(await renderMaterials(store, prompt)),
            listBlock('findings', findings, blockBytesMax.findings),
          ].join('\n\n'),
          callKey,
        ),
      ].join('\n\n');
      return [{ type: 'text', text }];
    },
  };
}

async function renderMaterials(store: ArtifactStore, prompt: DesignPrompt): Promise<string[]> {
  const materials = await Promise.all(
    prompt.materials.map(async ({ stage, subject, ref }) => {
      const result: unknown = JSON.parse(await store.getText(ref));
      const shown = JSON.stringify({ stage, ...(subject !== null && { subject }), result });
      return textBlock('design_material', shown, blockBytesMax.design_material);
    }),
  );
  if (prompt.plan_ref === null) return materials;
  const plan = await readShape(store, prompt.plan_ref, CoordinationPlan, 'a coordination plan');
  return [...materials, jsonBlock('coordination_plan', plan)];
}
