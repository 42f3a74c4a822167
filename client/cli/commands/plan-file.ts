import { Document, isMap, visit, type Pair, type Scalar } from 'yaml';
import { z } from 'zod';
import { CoordinationPlan, PlanTask } from '../../../contracts/coordination-plan.ts';
import { defaultLimits } from '../../../core/limits.ts';
import { readYamlFile, type YamlFile } from './yaml-file.ts';

/** A plan as a person writes it: what is empty or usual may be left out. */
const TypedPlan = CoordinationPlan.extend({
  version: CoordinationPlan.shape.version.default(1),
  max_parallel: CoordinationPlan.shape.max_parallel.default(defaultLimits.max_parallel),
  new_agents: CoordinationPlan.shape.new_agents.default([]),
  risks: CoordinationPlan.shape.risks.default([]),
  tasks: z
    .array(
      PlanTask.extend({
        inputs: PlanTask.shape.inputs.default([]),
        outputs: PlanTask.shape.outputs.default([]),
        depends_on: PlanTask.shape.depends_on.default([]),
        proof_of_concept: PlanTask.shape.proof_of_concept.default(null),
      }),
    )
    .min(1)
    .max(60),
});

export interface PlanFile extends YamlFile<CoordinationPlan> {
  /** Null when the file is no plan; the findings then say why. */
  readonly plan: CoordinationPlan | null;
}

/** Reads a plan from YAML, of which JSON is a part. */
export function readPlanFile(text: string): PlanFile {
  const names = { whole: 'the plan', fields: 'docs/plans.md' };
  const file = readYamlFile(text, TypedPlan, names);
  return { ...file, plan: file.value };
}

const head = ` Plan of planwave: who does what, in which order, and what shows that it is done.
 Check it with: planwave plan check <this file>
 Editors complete and check its fields with a schema beside it: planwave plan schema --out plan.schema.json
 yaml-language-server: $schema=plan.schema.json`;

const comments: Readonly<Record<string, string>> = {
  task_name: ' Short name of the whole, used in file names.',
  max_parallel: ' Tasks that may work at the same time.',
  agents:
    ' agent_name is the name in this plan, agent_id the registered agent (planwave agents list).',
  new_agents: ' Drafts of agents that are not registered yet.',
  tasks:
    ' task_id is {slug}_{unix epoch seconds}. depends_on decides the order; what does not depend on one another may\n work in parallel. inputs and outputs are relative paths; from is the task that writes the file, or null for one\n that exists already. verified_by is a verifier, and never the agent of the task.',
  risks: ' Assumptions that the plan relies on. A task with proof_of_concept tests one.',
  escalation: ' What happens when a task is blocked, in order.',
};

/** Writes a plan as YAML for people: comments, long texts as blocks. */
export function writePlanFile(plan: CoordinationPlan): string {
  const document = new Document(plan, { aliasDuplicateObjects: false });
  document.commentBefore = head;
  if (isMap<Scalar<string>>(document.contents)) {
    for (const pair of document.contents.items) commentOn(pair);
  }
  visit(document, { Scalar: (_key, node) => quoteBlank(node) });
  return document.toString({
    lineWidth: 100,
    blockQuote: 'literal',
    // A quoted text of several lines stays on one: the package folds a line of spaces wrongly.
    doubleQuotedMinMultiLineLength: Infinity,
  });
}

/** Quotes a text that begins with an empty line: as a block it would lose the spaces of empty lines. */
function quoteBlank(scalar: Scalar): void {
  const { value } = scalar;
  if (typeof value === 'string' && /^[ \t]*\n/.test(value)) scalar.type = 'QUOTE_DOUBLE';
}

function commentOn({ key }: Pair<Scalar<string>>): void {
  const comment = comments[key.value];
  if (comment === undefined) return;
  key.commentBefore = comment;
  key.spaceBefore = true;
}

/** Creates the JSON Schema of a plan, for editors. */
export function createPlanSchema(): object {
  return {
    title: 'Coordination plan of planwave',
    ...z.toJSONSchema(TypedPlan, { target: 'draft-7', io: 'input' }),
  };
}
