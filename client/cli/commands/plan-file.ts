import {
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  Document,
  visit,
} from 'yaml';
import type { Pair, Scalar } from 'yaml';
import { z } from 'zod';
import { CoordinationPlan, PlanTask } from '../../../contracts/coordination-plan.ts';
import type { PlanFinding } from '../../../contracts/coordination-plan.ts';
import { expandIssue } from '../../../contracts/expand-issue.ts';
import { defaultLimits } from '../../../core/limits.ts';
import { cutText } from '../../../core/text/cut-text.ts';
import { describeIssue } from './json-file.ts';

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

/** Finding with its place in the file. Lines and columns count from 1. */
export interface PlacedFinding extends PlanFinding {
  readonly line: number;
  readonly column: number;
}

export interface PlanFile {
  /** Null when the file is no plan; the findings then say why. */
  readonly plan: CoordinationPlan | null;
  readonly findings: readonly PlacedFinding[];
  /** Puts findings of the plan at their places in this file, in the order of the file. */
  readonly place: (findings: readonly PlanFinding[]) => PlacedFinding[];
}

/** Most findings of a file that is no plan: they often have one cause. */
const findingsMax = 100;

/** Reads a plan from YAML, of which JSON is a part. */
export function readPlanFile(text: string): PlanFile {
  const counter = new LineCounter();
  const document = parseDocument(text.replace(/^\uFEFF/, ''), {
    lineCounter: counter,
    prettyErrors: false,
  });
  const placeOf = (path: string): { line: number; column: number } => {
    const { line, col } = counter.linePos(findOffset(document, path));
    return { line, column: col };
  };
  const place = (findings: readonly PlanFinding[]): PlacedFinding[] =>
    findings
      .map((finding) => ({ ...finding, ...placeOf(finding.path) }))
      .toSorted((a, b) => a.line - b.line || a.column - b.column);
  if (document.errors.length > 0) {
    const findings = document.errors.slice(0, findingsMax).map(({ message, pos: [offset] }) => {
      const { line, col } = counter.linePos(offset);
      const reason = `this is no YAML: ${cutText(message, 300)}`;
      const cure = 'Mend the indentation, or put a text with ": " or "#" in double quotes';
      return { rule: 'yaml', path: '', message: reason, cure, line, column: col };
    });
    return { plan: null, findings, place };
  }
  const value = toValue(document);
  if (value instanceof Error) {
    const finding = { rule: 'yaml', path: '', message: value.message, cure: 'Write texts out' };
    return { plan: null, findings: place([finding]), place };
  }
  const parsed = TypedPlan.safeParse(value);
  if (parsed.success) return { plan: parsed.data, findings: [], place };
  const faults = parsed.error.issues.flatMap(expandIssue).flatMap(describeFault);
  return { plan: null, findings: place(faults).slice(0, findingsMax), place };
}

function describeFault(issue: z.core.$ZodIssue): PlanFinding[] {
  const rule = 'schema';
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      rule,
      path: [...issue.path, key].join('/'),
      message: `unknown field ${JSON.stringify(cutText(key, 60))}`,
      cure: 'Remove it, or correct its name',
    }));
  }
  return [
    {
      rule,
      path: issue.path.join('/'),
      message: `${issue.path.join('.') || 'the plan'}: ${describeIssue(issue)}`,
      cure: 'The fields stand in docs/plans.md',
    },
  ];
}

/** Returns the error of a document whose aliases would expand without end. */
function toValue(document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Finds the place of a path, or of the nearest entry above it that exists. */
function findOffset(document: Document.Parsed, path: string): number {
  let node: unknown = document.contents;
  // The first field, below the comments at the top.
  let offset = startOf(node) ?? 0;
  for (const part of path === '' ? [] : path.split('/')) {
    const next = enter(node, part);
    if (next === null) break;
    ({ node, offset } = next);
  }
  return offset;
}

function enter(node: unknown, part: string): { node: unknown; offset: number } | null {
  if (isSeq(node)) {
    const item = node.items[Number(part)];
    return item === undefined ? null : { node: item, offset: startOf(item) ?? startOf(node) ?? 0 };
  }
  if (!isMap(node)) return null;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === part);
  if (pair === undefined) return null;
  return { node: pair.value, offset: startOf(pair.key) ?? 0 };
}

function startOf(node: unknown): number | undefined {
  return isScalar(node) || isCollection(node) ? node.range?.[0] : undefined;
}

const head = ` Plan of planwave: who does what, in which order, and what shows that it is done.
 Check it with: planwave plan check <this file>
 Editors complete and check its fields with the file that planwave plan schema writes beside it:
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
  return document.toString({ lineWidth: 100, blockQuote: 'literal' });
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
