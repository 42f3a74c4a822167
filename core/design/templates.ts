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
import { findPlaceholders } from '../output/find-placeholders.ts';
import {
  codeSpan,
  embedMarkdown,
  joinSections,
  oneLine,
  readMarkdown,
  titleOfHeading,
} from '../text/markdown.ts';

const doerEscalation = `## Escalation
You MUST escalate, and not decide yourself:
- Technology and tools: languages, frameworks, libraries, databases, even where the choice seems obvious.
- Architecture: system design, component structure, integration patterns.
- Security: authentication, encryption, access control.
- Requirements: business rules, constraints on data, what the user wants.
- Conflicting guidance between these instructions, the conversation summary and other documents.

You may decide, and note with your evidence:
- Consistency: names, formats, patterns that exist already.
- Obvious bugs with one clear correction.
- Details of implementation within the settled technology and architecture.
- Documentation and comments.

When in doubt, escalate. In this plan that goes before any rule to take the careful choice.`;

const architectEscalation = `## Escalation
You decide what doers must escalate: technology and tools, architecture, security. For each decision give the alternatives, why you rejected them, and what follows for the tasks that depend on it.

You MUST escalate, and not decide yourself:
- Requirements: business rules, constraints on data, what the user wants.
- Conflicting guidance between these instructions, the conversation summary and other documents.
- A decision that would change what another task of the plan has already produced.`;

const verifierEscalation = `## Escalation
You judge, and change nothing: what is wrong goes back to its author.
You MUST escalate: evidence that can't be judged as it is written, and requirements that contradict each other.`;

const workerRules = `## Reading and writing
- Read first: these instructions, the results of the tasks you depend on, each input listed above, and feedback of a verifier if there is any.
- Write your outputs to the paths listed above, in the formats listed there, and no other file of the plan. Without a tool that writes files, your detailed_md is the file: give its content there, whole. Only what is written reaches the tasks that depend on you.

## Notes
- Whenever you assume something or are unsure, during the work and while you review it, make a note: what you assume, and what you were doing when it arose.
- Before you finish, go through all notes. Each is then resolved, with how and by what evidence, or escalated, with the reason. What is resolved by assumption belongs in assumptions_made. What is escalated becomes a question by itself: no blocking question repeats it.

## Status
- pending → working: when you begin.
- working → completion_drive_review: when you believe that the work is done. Review all notes then.
- completion_drive_review → ready_for_verification: when no note is open or escalated. Your output then says "completed".
- working or completion_drive_review → blocked: when a note must be escalated. Your output then says "blocked".
- ready_for_verification → verified: by your verifier, never by you.

## Turn
1. Start: read what is listed under "Reading and writing".
2. Work: do the task and keep notes.
3. End: review the notes, write the outputs, show each piece of evidence, and report the status. After a failed verification mend what the feedback names, and show the evidence anew.`;

const verifierRules = `## Reading and writing
- Read: the outputs, the changes, the notes and the evidence that each task requires. You don't see how its author reasoned.
- Write: a verdict for each task. On failure it lists the missing evidence, so that the author can mend it without you.

## Verdict
- Judge each piece of evidence by itself: it is there and shows what it must, or it is missing. Look it up; a claim is no evidence.
- Judge the notes too: each is resolved with evidence, and none that had to be escalated was decided by the author.
- A task passes when all its evidence is there. Otherwise it fails, and goes back to its author with your list.
- You never verify work of your own.

## Status
- ready_for_verification → verified: when a task passes. Feedback of an earlier attempt is then deleted.
- ready_for_verification → working: when it fails.
- After five failures of one task the user decides.

## Turn
1. Start: read the task's instructions and its evidence, then its outputs.
2. Work: check one piece of evidence after the other.
3. End: write the verdict and report it.`;

const rulesOf: Readonly<Record<RosterRole, string>> = {
  doer: `${doerEscalation}\n\n${workerRules}`,
  solution_architect: `${architectEscalation}\n\n${workerRules}`,
  verifier: `${verifierEscalation}\n\n${verifierRules}`,
};

const taskParts = ['Your task', 'Inputs', 'Outputs', 'Evidence'];
const workerParts = ['Escalation', 'Reading and writing', 'Notes', 'Status', 'Turn'];

/** Headings of the parts that instructions must have (seed 003, Issue 1). */
const partsOf: Readonly<Record<RosterRole, readonly string[]>> = {
  doer: [...taskParts, ...workerParts],
  solution_architect: [...taskParts, ...workerParts],
  verifier: ['Escalation', 'Reading and writing', 'Verdict', 'Status', 'Turn'],
};

/** Longest instructions of one task, equal to the limit of a delegation's task. */
export const instructionCharsMax = 20_000;

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
    taskOf(task_description),
  ]);
}

/** Returns the parts of instructions that are about the task. A text of the plan can't end them: see TM2. */
function taskOf(instructions: string): string {
  const [from, to] = ['\n## Your task\n', '\n## Escalation\n'].map((part) =>
    instructions.indexOf(part),
  );
  return instructions.slice(from, to === -1 ? undefined : to).trim();
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
export function decisionFile(agent_name: string, task_id: string): PlanTask['outputs'][number] {
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
  const left = readMarkdown(text).flatMap(({ number, text: line, isCode }) => {
    const found = isCode ? null : holes.exec(line.replaceAll(/`[^`\n]*`/g, ''));
    return found === null ? [] : [`line ${number}: ${JSON.stringify(found[0])}`];
  });
  return [...left, ...findPlaceholders(text, '').map(({ reason }) => reason)];
}
