import type { z } from 'zod';
import { CoordinationPlan } from '../../../contracts/coordination-plan.ts';
import type {
  DesignPrompt,
  DesignReplyOutline,
  DesignStageName,
} from '../../../contracts/design.ts';
import type { AskedQuestion } from '../../../contracts/question.ts';
import { readJson as readStored, readRegistry, readShape } from '../../artifacts/read-artifact.ts';
import { readRecord } from '../../artifacts/record-log.ts';
import type { ArtifactStore } from '../../ports/artifact-store.ts';
import {
  renderAgents,
  renderAnsweredQuestions,
  renderRunBlocks,
} from '../../prompts/common-blocks.ts';
import { markData } from '../../prompts/mark-data.ts';
import { blockBytesMax } from '../../text/block-limits.ts';
import { jsonBlock, listBlock, textBlock } from '../../text/blocks.ts';
import { readJson } from '../read-json.ts';
import { jsonReply } from '../stage.ts';
import type { Stage } from '../stage.ts';
import { designRules } from './design-rules.ts';

/** Parts by which the stages of a design differ. */
interface DesignStageParts<T> {
  readonly stage: DesignStageName;
  readonly schema: z.ZodType<T>;
  /** Rules of the stage, with a worked example. */
  readonly rules: string;
  /** Sentence that says what is wanted now. */
  readonly request: (prompt: DesignPrompt) => string;
  /** Form in which the plan is shown; if undefined, it is not. */
  readonly plan?: 'whole' | 'outline';
  /** True if the registered agents are shown. */
  readonly showsAgents?: boolean;
  readonly outline?: (value: T) => Partial<Pick<DesignReplyOutline, 'technologies'>> & {
    readonly user_questions?: readonly AskedQuestion[];
  };
}

/** Creates a stage of a design: one JSON reply, made from the results of earlier stages. */
export function defineDesignStage<T>(parts: DesignStageParts<T>): Stage<DesignPrompt> {
  const rules = `${designRules}\n\n${parts.rules}`;
  return {
    reply: {
      ...jsonReply,
      shape: 'design',
      schemaFor: () => parts.schema,
      async take(text) {
        const read = readJson(parts.schema, text);
        if (!read.ok) return read;
        const outline = parts.outline?.(read.value);
        return {
          ok: true,
          text: JSON.stringify(read.value),
          outline: (ref) => ({
            shape: 'design',
            reply: {
              stage: parts.stage,
              ref,
              user_questions: outline?.user_questions ?? [],
              technologies: outline?.technologies ?? [],
            },
          }),
        };
      },
    },
    tools: 'none',
    system: (agent) => [
      { text: rules, cacheBreakpoint: true },
      { text: `# Your role: ${agent.agent_id}\n${agent.prompt}`, cacheBreakpoint: true },
    ],
    async render(store, prompt, { callKey, tools }) {
      const record = await readRecord(store, prompt.record_ref);
      const shown = [
        await renderAnsweredQuestions(store, record),
        listBlock('materials', await readMaterials(store, prompt), blockBytesMax.materials),
        ...(await renderPlan(store, prompt, parts.plan)),
        ...(prompt.findings.length === 0
          ? []
          : [listBlock('findings', prompt.findings, blockBytesMax.findings)]),
      ];
      const text = [
        `<request kind="design" stage="${parts.stage}">\n${parts.request(prompt)}\n</request>`,
        ...renderRunBlocks(record, prompt.amendments),
        ...(parts.showsAgents === true
          ? [renderAgents((await readRegistry(store, prompt.registry_ref)).agents, tools)]
          : []),
        markData(shown.join('\n\n'), callKey),
        ...(prompt.subject === null ? [] : [jsonBlock('subject', prompt.subject)]),
        ...(prompt.requested_change === null
          ? []
          : [textBlock('instruction', prompt.requested_change, blockBytesMax.instruction)]),
      ].join('\n\n');
      return [{ type: 'text', text }];
    },
  };
}

async function readMaterials(
  store: ArtifactStore,
  { materials }: DesignPrompt,
): Promise<readonly object[]> {
  return Promise.all(
    materials.map(async ({ stage, subject, ref }) => ({
      stage,
      ...(subject !== null && { subject }),
      result: withoutQuestions(await readStored(store, ref)),
    })),
  );
}

/** Removes the questions of a stage that asks: they are answered, and stand among the answers. */
function withoutQuestions(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { user_questions: _asked, ...rest } = value as Readonly<Record<string, unknown>>;
  return rest;
}

async function renderPlan(
  store: ArtifactStore,
  { plan_ref }: DesignPrompt,
  form: 'whole' | 'outline' | undefined,
): Promise<string[]> {
  if (form === undefined || plan_ref === null) return [];
  const plan = await readShape(store, plan_ref, CoordinationPlan, 'a coordination plan');
  const { tasks, goal: _goal, ...rest } = plan;
  const shown = form === 'whole' ? tasks : tasks.map(({ instructions: _text, ...task }) => task);
  // One block for each part, so that a long plan loses its last tasks and not its roster.
  return [jsonBlock('plan', rest), listBlock('plan_tasks', shown, blockBytesMax.plan_tasks)];
}
