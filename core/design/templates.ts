/**
 * Instructions of a plan's agents: what the plan says of their tasks, and the rules of their role (seed 003, Issue 1).
 *
 * Invariants:
 *   TM1. Instructions have each mandatory part of their role, filled.
 *   TM2. A text of the plan can't end, empty or repeat a part: its headings stand below those of the parts, and none of its
 *        code blocks stays open.
 *   TM3. Each place that was left to be written is found: a bare placeholder, a template's hole, an empty section.
 */
import type { CoordinationPlan, PlanTask, RosterRole } from '../../contracts/coordination-plan.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import { findPlaceholders, isPlaceholder } from '../output/find-placeholders.ts';
import { instructionCharsMax, rulesOf, taskPartOf } from './task-rules.ts';
import {
  codeSpan,
  embedMarkdown,
  joinSections,
  oneLine,
  readMarkdown,
  titleOfHeading,
} from '../text/markdown.ts';

const taskParts = ['Your task', 'Inputs', 'Outputs', 'Evidence'];
const workerParts = ['Escalation', 'Reading and writing', 'Notes', 'Status', 'Turn'];

/** Headings of the parts that instructions must have (seed 003, Issue 1). */
const partsOf: Readonly<Record<RosterRole, readonly string[]>> = {
  doer: [...taskParts, ...workerParts],
  solution_architect: [...taskParts, ...workerParts],
  verifier: ['Escalation', 'Reading and writing', 'Verdict', 'Status', 'Turn'],
};

type PlanTexts = Pick<CoordinationPlan, 'task_name' | 'summary' | 'agents' | 'tasks' | 'risks'>;

/** Renders all that the agent of a task is told: its reader sees nothing else of the plan. */
export function renderTaskInstructions(plan: PlanTexts, task: PlanTask): string {
  const agent = plan.agents.find(({ agent_name }) => agent_name === task.agent);
  const role = agent?.role === 'solution_architect' ? 'solution_architect' : 'doer';
  const who = agent === undefined ? '' : ` You are ${task.agent}: ${oneLine(agent.responsibility)}`;
  return joinSections([
    `# ${oneLine(task.title)}`,
    `Task ${task.task_id} of the plan ${plan.task_name}.${who}`,
    ...renderTask(plan, task),
    rulesOf[role],
  ]);
}

/** Questions of tasks that the solution architect decides, as tasks of its own. The plan lists none of them. */
export interface DecisionTasks {
  /** The architect and its verifier; null when the roster has no such pair. */
  readonly by: { readonly agent_name: string; readonly verifier_name: string } | null;
  readonly tasks: readonly Pick<
    Delegation,
    'delegation_id' | 'title' | 'task_description' | 'acceptance_criteria'
  >[];
}

/** Renders `agent_instructions.md` of an agent: all its tasks, all that it verifies, and the rules of its role. */
export function renderAgentInstructions(
  plan: PlanTexts,
  agent_name: string,
  decisions: DecisionTasks = { by: null, tasks: [] },
): string {
  const agent = plan.agents.find((one) => one.agent_name === agent_name);
  if (agent === undefined) throw new Error(`The plan has no agent ${JSON.stringify(agent_name)}.`);
  const own = plan.tasks.filter((task) => task.agent === agent_name);
  const verified = plan.tasks.filter((task) => task.validation.verified_by === agent_name);
  return joinSections([
    `# ${agent_name}`,
    `Role: ${agent.role.replaceAll('_', ' ')}. ${oneLine(agent.responsibility)}`,
    `Plan ${plan.task_name}: ${oneLine(plan.summary)}`,
    ...own.flatMap((task) => [
      `# Task ${task.task_id}: ${oneLine(task.title)}`,
      ...renderTask(plan, task),
    ]),
    ...renderDecisions(decisions, agent_name),
    ...verified.map((task) => renderVerified({ ...task, ...task.validation })),
    ...renderVerifiedDecisions(decisions, agent_name),
    rulesOf[agent.role],
  ]);
}

function renderDecisions({ by, tasks }: DecisionTasks, agent_name: string): string[] {
  if (by?.agent_name !== agent_name) return [];
  if (tasks.length === 0) {
    return [
      '# Decisions\nA question of a task that is yours to decide becomes a task of yours, and stands here. None was asked so far.',
    ];
  }
  return tasks.flatMap(({ delegation_id, title, task_description }) => [
    `# Task ${delegation_id}: ${oneLine(title)}`,
    taskPartOf(task_description),
  ]);
}

function renderVerifiedDecisions({ by, tasks }: DecisionTasks, agent_name: string): string[] {
  if (by?.verifier_name !== agent_name) return [];
  return tasks.map(({ delegation_id, title, acceptance_criteria }) =>
    renderVerified({
      task_id: delegation_id,
      title,
      agent: by.agent_name,
      outputs: [decisionFile(by.agent_name, delegation_id)],
      evidence: acceptance_criteria.map(({ criterion_id, description }) => ({
        evidence_id: criterion_id,
        description,
      })),
    }),
  );
}

/** Returns the file in which the solution architect decides what a task asks. */
function decisionFile(agent_name: string, task_id: string): PlanTask['outputs'][number] {
  return {
    path: `agents/${agent_name}/task_output/${task_id}.md`,
    format: 'Markdown with one section for each question',
  };
}

function renderTask(plan: PlanTexts, task: PlanTask): string[] {
  const { instructions, inputs, outputs, validation, depends_on, proof_of_concept } = task;
  const waits = depends_on.length === 0 ? '' : `\n\nStarts after: ${depends_on.join(', ')}.`;
  const embedded = embedMarkdown(instructions, {
    charsMax: instructionCharsMax,
    whole: 'the plan',
    depth: 2,
  }).trim();
  return [
    `## Your task\n${embedded}${waits}`,
    `## Inputs\n${list(
      inputs.map((one) => {
        const from = one.from === null ? 'exists before the plan starts' : `written by ${one.from}`;
        return `${codeSpan(one.path, 200)}: ${oneLine(one.format)}; ${from}`;
      }),
      'No file. What you need stands in these instructions.',
    )}`,
    `## Outputs\n${list(
      outputs.map(({ path, format }) => `${codeSpan(path, 200)}: ${oneLine(format)}`),
      'No file. Your output is the result.',
    )}`,
    `## Evidence\n${validation.verified_by} checks each of these before others build on your work:\n${list(
      validation.evidence.map(
        ({ evidence_id, description }) => `${evidence_id}: ${oneLine(description)}`,
      ),
      'None is listed. Ask what shows that you are done.',
    )}`,
    ...(proof_of_concept === null ? [] : [renderProof(plan, proof_of_concept)]),
  ];
}

function renderProof(
  { risks }: PlanTexts,
  proof: NonNullable<PlanTask['proof_of_concept']>,
): string {
  const risk = risks.find(({ risk_id }) => risk_id === proof.risk_id);
  return [
    `## Proof of concept`,
    `This task tests an assumption as quickly as possible, before others build on it: ${oneLine(risk?.assumption ?? proof.risk_id)}`,
    'It holds when:',
    list(proof.success_criteria.map(oneLine), ''),
    'It does not hold when:',
    list(proof.failure_criteria.map(oneLine), ''),
    'Report what was measured. A clear failure is as useful as a success; a result without evidence counts as a failure.',
  ].join('\n');
}

function renderVerified({
  task_id,
  title,
  agent,
  outputs,
  evidence,
}: Pick<PlanTask, 'task_id' | 'title' | 'agent' | 'outputs'> &
  Pick<PlanTask['validation'], 'evidence'>): string {
  return [
    `# Verify ${task_id}: ${oneLine(title)}`,
    `Author: ${agent}. Outputs: ${outputs.map(({ path }) => codeSpan(path, 200)).join(', ') || 'its result'}.`,
    'Required evidence:',
    list(
      evidence.map(({ evidence_id, description }) => `${evidence_id}: ${oneLine(description)}`),
      'None is listed.',
    ),
  ].join('\n');
}

function list(entries: readonly string[], none: string): string {
  return entries.length === 0 ? none : entries.map((one) => `- ${one}`).join('\n');
}

/** Lists the mandatory parts that instructions lack or have only as an empty heading. */
export function findMissingParts(instructions: string, role: RosterRole): string[] {
  const lines = readMarkdown(instructions);
  const filled = new Set<string>();
  for (const [at, line] of lines.entries()) {
    const rest = lines.slice(at + 1);
    const end = rest.findIndex(({ level }) => level > 0 && level <= line.level);
    const body = end === -1 ? rest : rest.slice(0, end);
    const isFilled = body.some(({ level, text }) => level === 0 && text.trim() !== '');
    if (line.level > 0 && isFilled) filled.add(titleOfHeading(line));
  }
  return partsOf[role].filter((part) => !filled.has(part));
}

/** A template's hole, `{{name}}`, or an order to its author, `[insert the table]`. */
const holes =
  /\{\{[^{}\n]{1,80}\}\}|\[(?:insert|fill in|your|todo|tbd)\b[^\][\n]{0,80}\](?!\()|<(?:insert|fill in|your|todo|tbd)\b[^<>\n]{0,80}>/i;

/** Finds places of a text that were left to be written, one sentence each. Code is none. */
export function findUnwritten(text: string): string[] {
  return [...findHoles(text), ...findPlaceholders(text, '').map(({ reason }) => reason)];
}

/** A note of the author to themselves, `TODO: name the file`. In lower case it may be a name, as in `todo: the app`. */
const notes = /^\s*(?:TODO|TBD|TBA|TBC|FIXME)\s*:/;

/** Finds the same in a title or an entry of a list, whose few words may speak of a placeholder. */
export function findUnwrittenEntry(text: string): string[] {
  const isUnwritten = isPlaceholder(text) || notes.test(text);
  return isUnwritten ? ['the whole text is a placeholder'] : findHoles(text);
}

function findHoles(text: string): string[] {
  return readMarkdown(text).flatMap(({ number, text: line, isCode }) => {
    const found = isCode ? null : holes.exec(line.replaceAll(/`[^`\n]*`/g, ''));
    return found === null ? [] : [`line ${number}: ${JSON.stringify(found[0])}`];
  });
}
