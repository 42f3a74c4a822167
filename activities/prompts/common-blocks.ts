import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { AskedLoop } from '../../contracts/adaptation.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { AcceptanceCriterion } from '../../contracts/delegation.ts';
import type { RunRecord, StoredAnswer } from '../../contracts/run-record.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { cutText, escapeInvisible } from '../../core/text/cut-text.ts';
import { joinNames } from '../artifacts/packet-details.ts';
import { grantTools, type ToolRegistry } from '../tools/tool.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, listBlock, textBlock } from '../text/blocks.ts';
import { listTaskQuestions } from '../../core/questions/repeated-questions.ts';
import { listOpenGoals } from '../../core/run/record-criteria.ts';
import { informsWork } from '../../core/questions/answer-kinds.ts';

/** Maximum characters of a tool's purpose: everything else that an agent has to know stands in its description. */
const toolCharsMax = 200;

/** Maximum characters of a question next to the name of its answer. The whole stands with the answer. */
const questionCharsMax = 100;

/** Renders what every first message has after its request, equal for all agents of a wave. */
export function renderRunBlocks(record: RunRecord, amendments: readonly string[]): string[] {
  // An amendment is in the record from the next boundary on; until then it only comes with the prompt.
  const instructions = [...new Set([...record.instructions, ...amendments])];
  return [
    textBlock('goal', record.goal, blockBytesMax.goal),
    listBlock('constraints', record.constraints, blockBytesMax.constraints),
    listBlock('instructions', instructions, blockBytesMax.instructions, 'last'),
    `<language>${record.language ?? 'the language of the goal'}</language>`,
    `<today>${toDay(record.updated_at)}</today>`,
  ];
}

/**
 * Formats a day in UTC, `2026-11-23`. It comes from the record and not from the clock: all agents of a wave get the
 * same bytes, which the provider's cache then holds.
 *
 * @param seconds Unix epoch seconds.
 */
function toDay(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 10);
}

/**
 * Renders who does the work of the run, each with its tools, and what each of these tools does. The planner is not among them. A
 * tool does what the first sentence of its description says.
 */
export function renderAgents(registry: readonly AgentDefinition[], tools: ToolRegistry): string {
  const executors = registry.filter((agent) => agent.agent_id !== plannerAgentId);
  const agents = executors.map(({ agent_id, description, capabilities, allowed_tools }) => ({
    agent_id,
    description,
    capabilities,
    tools: allowed_tools,
  }));
  const granted = grantTools(
    tools,
    executors.flatMap(({ allowed_tools }) => allowed_tools),
  );
  const described = granted.map(({ spec }) => ({
    tool: spec.name,
    does: cutText(spec.description.split('. ', 1)[0] ?? '', toolCharsMax),
  }));
  return [
    listBlock('agents', agents, blockBytesMax.agents),
    listBlock('agent_tools', described, blockBytesMax.agent_tools),
  ].join('\n\n');
}

/**
 * Renders what was asked and settled so far, and by whom. The record keeps the beginning of a long answer; agents read it from
 * the store.
 *
 * @param shownElsewhere question_ids that another block of the message shows.
 */
export async function renderAnsweredQuestions(
  store: ArtifactStore,
  record: RunRecord,
  shownElsewhere: readonly string[] = [],
): Promise<string> {
  // An approval, or a decision on the budget, tells other agents nothing about the work.
  const decisions = record.answered_questions.filter(
    ({ question_id, question }) =>
      informsWork(question?.kind) && !shownElsewhere.includes(question_id),
  );
  const entries = await Promise.all(decisions.map((one) => showAnswered(store, one)));
  return escapeInvisible(
    listBlock('answered_questions', entries, blockBytesMax.answered_questions, 'last'),
  );
}

/** Renders what a task that asks the same again and again has asked so far, with the answers, and what was refused. */
export async function renderEscalations(
  store: ArtifactStore,
  record: RunRecord,
  { delegation_id, question, again = [], cycle }: AskedLoop,
): Promise<string> {
  const asked = await Promise.all(
    listTaskQuestions(delegation_id, record).map(async ({ question_id, text, answered }) =>
      answered === null ? { question_id, text, answer: null } : showAnswered(store, answered),
    ),
  );
  const refused = [question, ...again].map((text) => ({ text, refused: true }));
  const waits = cycle === undefined ? [] : [{ cycle: cycle.join('→') }];
  const max = blockBytesMax.answered_questions;
  return escapeInvisible(listBlock('escalations', [...asked, ...refused, ...waits], max, 'last'));
}

async function showAnswered(
  store: ArtifactStore,
  { question_id, text, answer, answer_ref, answered_by, delegation_id }: StoredAnswer,
): Promise<object> {
  const whole = answer_ref === null ? answer : await store.getText(answer_ref);
  const shown = cutAtLine(whole, blockBytesMax.answered_question);
  return { question_id, text, answer: shown, answered_by, delegation_id };
}

/**
 * Lists the names that a delegation may require, each with its content. A result with several names is listed once.
 * Inputs from the user come first, then the newest results.
 */
export function renderKnownInputs(record: RunRecord, known: readonly string[]): string {
  const results = joinNames(record.details)
    .toReversed()
    .map(({ entry, names }) => ({
      name: entry.detail_id,
      ...(names.length > 0 && { also: names }),
      title: entry.title,
    }));
  const asResult = new Set(results.flatMap(({ name, also = [] }) => [name, ...also]));
  const questions = new Map(record.answered_questions.map((one) => [one.question_id, one.text]));
  const others = known
    .filter((name) => !asResult.has(name))
    .map((name) => {
      const asked = questions.get(name);
      return { name, ...(asked !== undefined && { title: cutText(asked, questionCharsMax) }) };
    });
  const given = others.filter(({ title }) => title === undefined);
  const answered = others.filter(({ title }) => title !== undefined);
  const listed = results.filter(({ name }) => known.includes(name));
  return listBlock('known_inputs', [...given, ...listed, ...answered], blockBytesMax.known_inputs);
}

/** Renders the open criteria of the run's input as the user's words; nothing where there are none. */
export function renderGoalCriteria({ criteria }: Pick<RunRecord, 'criteria'>): string[] {
  const open = listOpenGoals(criteria);
  if (open.length === 0) return [];
  const entries = open.map(({ criterion_id, description }) => ({ criterion_id, description }));
  return [listBlock('goal_criteria', entries, blockBytesMax.criteria)];
}

/**
 * Renders the open criteria, each with the reason why it is open: the last statement of an agent that tried it, or of
 * the planner that opened it again.
 *
 * @param planned criteria of a wave whose plan may not have reached the record yet.
 */
export function renderOpenCriteria(
  record: RunRecord,
  openCriteria: readonly string[],
  planned: readonly AcceptanceCriterion[],
): string {
  const recorded = new Map(record.criteria.map((one) => [one.criterion_id, one]));
  const descriptions = new Map(
    [...planned, ...record.criteria].map((one) => [one.criterion_id, one.description]),
  );
  const entries = openCriteria.map((criterion_id) => {
    const { state, note = '' } = recorded.get(criterion_id) ?? {};
    return {
      criterion_id,
      description: descriptions.get(criterion_id) ?? '',
      ...(state === 'open' && note !== '' && { why_open: note }),
    };
  });
  return listBlock('open_criteria', entries, blockBytesMax.criteria);
}
