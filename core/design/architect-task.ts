/**
 * Has questions of a task decided by the solution architect of its plan, whose work is a task of its own (seed 003, "Resolution
 * Process").
 *
 * Invariants:
 *   SD1. A plan has an architect for questions when its roster has one, and a verifier who is another agent. A verifier that
 *        judges as a triad judges decisions as one too, and the architect is none of its members.
 *   SD2. The task reads what the asking task builds on, names each question with its form, and is verified.
 *   SD3. The answer to a question with a fact_key, or in another form than text, is the value that the output states under
 *        its key. To any other question, and where no value is stated, it is the output itself.
 *   SD4. What does not fit a question does not answer it.
 *   SD5. A task gets at most `decisionsMax` decisions: more of them show that the plan lacks something.
 */
import type { AgentOutput, Fact } from '../../contracts/agent-output.ts';
import type { CoordinationPlan, PlanTask } from '../../contracts/coordination-plan.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { PlanOutline } from '../../contracts/design-run.ts';
import type { Architect } from '../../contracts/planner-wave.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { normaliseKey, isSameValue } from '../pool/admit-facts.ts';
import { checkAnswer } from '../questions/check-answer.ts';
import { cutText } from '../text/cut-text.ts';
import { oneLine } from '../text/markdown.ts';
import { taskPartOf } from './task-rules.ts';
import { renderTaskInstructions } from './templates.ts';
import type { AnswerConflict } from '../../contracts/adaptation.ts';
import type { RunRecord, StoredAnswer } from '../../contracts/run-record.ts';
import { decisionSource, delegationOfSource, isDecisionTask, waveSource } from '../ids.ts';
import { listUpstream } from './graph.ts';
import { findTask } from './next-wave.ts';

/** @returns null for a plan without one. */
export function findArchitect({
  plan_ref,
  agents,
}: Pick<PlanOutline, 'plan_ref' | 'agents'>): Architect | null {
  const architect = agents.find(({ role }) => role === 'solution_architect');
  const verifier = agents.find(
    ({ role, agent_id, triad }) =>
      role === 'verifier' &&
      ![agent_id, ...(triad?.members ?? []).map((one) => one.agent_id)].some(
        (id) => id === architect?.agent_id,
      ),
  );
  if (architect === undefined || verifier === undefined) return null;
  const { agent_name, agent_id } = architect;
  return {
    plan_ref,
    agent_name,
    agent_id,
    verifier_name: verifier.agent_name,
    verified_by: verifier.agent_id,
    ...(verifier.triad !== undefined && { triad: verifier.triad }),
  };
}

const decisionsMax = 3;

/** @param plan Tasks of the wave. @returns true when the architect decides what the task asks now. */
export function mayDecide(
  plan: readonly Pick<Delegation, 'delegation_id' | 'answers'>[],
  asker: string,
): boolean {
  const own = plan.find(({ delegation_id }) => delegation_id === asker);
  const decided = plan.filter(({ answers }) => answers === asker).length;
  // The architect does not decide questions of its own.
  return own !== undefined && own.answers === undefined && decided < decisionsMax;
}

interface ToDecide {
  readonly delegation_id: string;
  readonly questions: readonly AskedQuestion[];
  /** The delegation that asks. */
  readonly asker: Delegation;
}

/** Returns the task of the architect as a delegation. */
export function orderDecision(
  plan: CoordinationPlan,
  { delegation_id, questions, asker }: ToDecide,
  architect: Architect,
): Delegation {
  const { agent_name, agent_id, verifier_name, verified_by, triad } = architect;
  const description =
    'Each question is answered with one decision, with its alternatives, why they were rejected, and what follows for the tasks that depend on it.';
  // No slug ends in the time of a task.
  const evidence_id = `decided-${delegation_id.slice(0, delegation_id.lastIndexOf('_'))}`;
  const task: PlanTask = {
    task_id: delegation_id,
    title: cutText(`Decide what "${oneLine(asker.title)}" asks`, 120),
    agent: agent_name,
    instructions: renderQuestions(asker, questions),
    inputs: [],
    // The engine writes its output into task_output/ of the architect: a tool would write into the user's folder.
    outputs: [],
    depends_on: [],
    validation: { verified_by: verifier_name, evidence: [{ evidence_id, description }] },
    proof_of_concept: null,
  };
  return {
    delegation_id,
    agent_id,
    title: task.title,
    task_description: renderTaskInstructions(plan, task),
    acceptance_criteria: [{ criterion_id: evidence_id, description }],
    required_inputs: asker.required_inputs,
    provided_inputs: asker.provided_inputs,
    depends_on: asker.depends_on,
    produces: [],
    executor: { kind: 'agent' },
    verification: { verified_by, ...(triad !== undefined && { triad }), checks: [] },
    answers: asker.delegation_id,
  };
}

function renderQuestions(asker: Delegation, questions: readonly AskedQuestion[]): string {
  const title = `"${oneLine(asker.title)}" (${asker.delegation_id})`;
  return [
    `The task ${title} is blocked by ${questions.length === 1 ? 'a question that is' : 'questions that are'} yours to decide. Its agent goes on with your answer as soon as it is verified.`,
    ...questions.map(renderQuestion),
    '### The task that asks',
    cutText(taskPartOf(asker.task_description), askerCharsMax),
  ].join('\n\n');
}

/** Characters of the asking task that are shown: with ten questions of full length the whole stays below the limit of a task. */
const askerCharsMax = 2_000;

/** Characters of each question that are shown. */
const shownCharsMax = 600;

function renderQuestion(question: AskedQuestion, at: number): string {
  const { text, why_it_matters, expected_answer_format, choices } = question;
  const key = keyOf(question, at);
  const form =
    key === null
      ? 'Your compact_md is the answer: it begins with the decision.'
      : `State the answer in facts, with the key ${JSON.stringify(key)} and the answer alone as its value${expected_answer_format === 'text' ? '' : `, as ${expected_answer_format}`}${choices.length === 0 ? '' : `: ${choices.map((one) => JSON.stringify(one)).join(' or ')}`}.`;
  return [
    `### Question ${at + 1}\n${cutText(oneLine(text), shownCharsMax)}`,
    ...(why_it_matters.trim() === '' ? [] : [cutText(oneLine(why_it_matters), shownCharsMax)]),
    cutText(form, shownCharsMax),
  ].join('\n\n');
}

/** Returns the key under which the answer is stated; null where the output itself answers. @param at From 0. */
function keyOf({ fact_key, expected_answer_format }: AskedQuestion, at: number): string | null {
  if (fact_key !== undefined) return fact_key;
  return expected_answer_format === 'text' ? null : `answer to question ${at + 1}`;
}

/** Characters of an output that is an answer: what is longer belongs into the files of the task. */
const answerCharsMax = 8_000;

/** Returns the answer to each question; null where there is none. */
export function readDecision(
  { facts, compact_md, detailed_md }: Pick<AgentOutput, 'facts' | 'compact_md' | 'detailed_md'>,
  questions: readonly AskedQuestion[],
): (string | null)[] {
  const whole = cutText(`${compact_md.trim()}\n\n${detailed_md.trim()}`, answerCharsMax);
  return questions.map((question, at) => {
    const key = keyOf(question, at);
    const isKey = (stated: string): boolean =>
      key !== null && normaliseKey(stated) === normaliseKey(key);
    const value = facts.find((fact) => isKey(fact.key))?.value;
    const answer = value ?? (question.expected_answer_format === 'text' ? whole : null);
    return answer !== null && checkAnswer(question, answer).ok ? answer : null;
  });
}

/**
 * Finds answers to questions of tasks that contradict what others know or read (seed 003, "Why Route Through Escalation
 * Resolution Agent").
 *
 * Invariants:
 *   AK1. An answer states the fact of its question's key, and those that the decision says from which it is taken. It
 *        contradicts another fact of one key with another value, unless that one had given way before.
 *   AK2. A contradiction concerns the task that stated the other value, and all that read from it or wait for it, but not the
 *        task that asked.
 *   AK3. What the asking task itself had stated contradicts nothing: the answer corrects it.
 *   AK4. Each answer is held against the pool after the wave in which it was asked for, and never again.
 *   AK5. Where the answer holds and concerns no other task, nothing follows from it.
 */

type Known = Pick<RunRecord, 'facts' | 'answered_questions'>;

/** A contradiction, and the delegation whose question was answered. */
export interface FoundConflict {
  readonly asker: string;
  readonly conflict: AnswerConflict;
}

/** @param wave The wave that has ended. */
export function findAnswerConflicts(
  { facts, answered_questions }: Known,
  tasks: readonly PlanTask[],
  wave: number,
): FoundConflict[] {
  return answered_questions.flatMap((answered) => {
    const { question, delegation_id: asker } = answered;
    if (question?.wave !== wave || question.kind !== 'blocking' || asker === null) return [];
    const task_id = findTask(tasks, asker)?.task_id;
    if (task_id === undefined) return [];
    return factsOf(answered, facts, wave).flatMap((stated): FoundConflict[] => {
      const others = facts.filter(
        (other) =>
          contradicts(other, stated, { facts, wave }) && authorOf(other, tasks) !== task_id,
      );
      const concerned = listConcerned(others, tasks).filter((id) => id !== task_id);
      const isSettled = stated.superseded_by === null && concerned.length === 0;
      if (others.length === 0 || isSettled) return [];
      return [{ asker, conflict: describe(answered, stated, { others, tasks: concerned }) }];
    });
  });
}

/** Returns the facts that an answer states: its own, and those of the decision that it is taken from. */
function factsOf(
  { question_id, source_refs }: StoredAnswer,
  facts: readonly Fact[],
  wave: number,
): readonly Fact[] {
  const sources = [
    question_id,
    ...source_refs.filter(isDecisionTask).map((id) => waveSource(wave, id)),
  ];
  const stated = facts.filter(
    ({ key, source_refs: [author = ''] }) => key !== null && sources.includes(author),
  );
  // The decision may state the very fact that its answer is.
  return stated.filter(({ key }, at) => stated.findIndex((one) => one.key === key) === at);
}

function contradicts(
  other: Fact,
  stated: Fact,
  { facts, wave }: { readonly facts: readonly Fact[]; readonly wave: number },
): boolean {
  const { key, value, superseded_by } = other;
  if (key === null || key !== stated.key || value === null || stated.value === null) return false;
  if (isSameValue(value, stated.value)) return false;
  if (superseded_by === null || superseded_by === decisionSource(wave)) return true;
  return facts.findIndex(({ fact_id }) => fact_id === superseded_by) >= facts.indexOf(stated);
}

function authorOf({ source_refs: [source = ''] }: Fact, tasks: readonly PlanTask[]): string | null {
  const id = delegationOfSource(source);
  return id === null ? null : (findTask(tasks, id)?.task_id ?? null);
}

function listConcerned(others: readonly Fact[], tasks: readonly PlanTask[]): string[] {
  const authors = new Set(others.flatMap((one) => authorOf(one, tasks) ?? []));
  const upstream = listUpstream(tasks);
  return tasks
    .map(({ task_id }) => task_id)
    .filter(
      (id) => authors.has(id) || [...(upstream.get(id) ?? [])].some((one) => authors.has(one)),
    );
}

/** Values of others that are shown. */
const othersMax = 5;

function describe(
  { question_id, text, answer, answered_by }: StoredAnswer,
  { key, value, superseded_by }: Fact,
  { others, tasks }: { readonly others: readonly Fact[]; readonly tasks: readonly string[] },
): AnswerConflict {
  return {
    question_id,
    question: cutText(text, 500),
    answer: cutText(answer, 500),
    answered_by,
    fact_key: key ?? '',
    value: value ?? '',
    holds: superseded_by === null,
    others: others.slice(0, othersMax).map((one) => ({
      value: one.value ?? '',
      source: one.source_refs[0] ?? one.origin,
    })),
    tasks,
  };
}
