import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { AcceptanceCriterion } from '../../contracts/delegation.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { informsWork } from '../../core/questions/informs-work.ts';
import { blockBytesMax } from './block-limits.ts';
import { cutAtLine, listBlock, textBlock } from './blocks.ts';

/** What every first message has after its request, equal for all agents of a wave. */
export function renderRunBlocks(record: RunRecord, amendments: readonly string[]): string[] {
  // An amendment stands in the record from the next boundary on; until then it only comes with the prompt.
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
 * A day in UTC, `2026-11-23`. It is the record's and not the clock's: all agents of a wave get the same bytes, which the
 * provider's cache then holds.
 *
 * @param seconds Unix epoch seconds.
 */
function toDay(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 10);
}

/** Who does the work of the run. The planner is not among them. */
export function renderAgents(registry: readonly AgentDefinition[]): string {
  const agents = registry
    .filter((agent) => agent.agent_id !== plannerAgentId)
    .map(({ agent_id, description, capabilities }) => ({ agent_id, description, capabilities }));
  return listBlock('agents', agents, blockBytesMax.agents);
}

/**
 * What was asked and settled so far, and by whom. The record keeps the beginning of a long answer; agents read it from
 * the store.
 */
export async function renderAnsweredQuestions(
  store: ArtifactStore,
  record: RunRecord,
): Promise<string> {
  // An approval, or a word on the budget, tells the others nothing about the work.
  const decisions = record.answered_questions.filter(({ question }) => informsWork(question?.kind));
  const entries = await Promise.all(
    decisions.map(
      async ({ question_id, text, answer, answer_ref, answered_by, delegation_id }) => ({
        question_id,
        text,
        answer: cutAtLine(
          answer_ref === null ? answer : await store.getText(answer_ref),
          blockBytesMax.answered_question,
        ),
        answered_by,
        delegation_id,
      }),
    ),
  );
  return listBlock('answered_questions', entries, blockBytesMax.answered_questions, 'last');
}

/** @param planned criteria of a wave whose plan may not have reached the record yet. */
export function renderOpenCriteria(
  record: RunRecord,
  openCriteria: readonly string[],
  planned: readonly AcceptanceCriterion[],
): string {
  const descriptions = new Map(
    [...planned, ...record.criteria].map((one) => [one.criterion_id, one.description]),
  );
  const entries = openCriteria.map((criterion_id) => ({
    criterion_id,
    description: descriptions.get(criterion_id) ?? '',
  }));
  return listBlock('open_criteria', entries, blockBytesMax.criteria);
}
