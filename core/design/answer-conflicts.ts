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
import type { AnswerConflict } from '../../contracts/adaptation.ts';
import type { PlanTask } from '../../contracts/coordination-plan.ts';
import type { RunRecord, StoredAnswer } from '../../contracts/run-record.ts';
import { decisionSource, delegationOfSource, isDecisionTask, waveSource } from '../ids.ts';
import { isSameValue } from '../pool/admit-facts.ts';
import { cutText } from '../text/cut-text.ts';
import { listUpstream } from './graph.ts';
import { findTask } from './next-wave.ts';
import type { Fact } from '../../contracts/agent-output.ts';

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
