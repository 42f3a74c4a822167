/**
 * Reads messages that our workflows send each other, and that people may imitate by hand.
 *
 * Invariants:
 *   WM1. No payload throws, whatever its shape.
 *   WM2. A payload that no workflow of ours sends gives null; one of ours is returned with its known fields.
 */
import type { ModeChoice } from '../../contracts/mode-choice.ts';
import type { BudgetGrant, BudgetRequest, Reservation, Spending } from '../../contracts/budget.ts';
import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type { DesignProgress } from '../../contracts/design-run.ts';
import type { DesignMaterial } from '../../contracts/design.ts';
import type { PlannedExecutor } from '../../contracts/executor.ts';
import type {
  DeliveredAnswer,
  Delivery,
  NewsAnswer,
  NewsDelivery,
  NewsInstruction,
  NewsItem,
  PlannedDelegation,
  WaveProgress,
} from '../../contracts/messages.ts';
import { designStageNames } from '../../contracts/names.ts';
import { readUsage } from '../usage/add-usage.ts';
import {
  amount,
  flag,
  hash,
  integer,
  list,
  literal,
  nullable,
  object,
  optional,
  text,
  textUpTo,
  variant,
  wordOf,
} from './reader.ts';
import type { Reader } from './reader.ts';

/** Reads an id. Ids on the wire are short paths, so a longer one is not ours. */
export const idText = textUpTo(1_000);

export const spending = object<Spending>({ calls: amount, tokens: amount, cost_micro_usd: amount });

export const requestFields = {
  request_id: text,
  needs: spending,
  spent: spending,
  worked_ms: amount,
  reserved: optional(spending),
} as const;

const budgetGrant = object<BudgetGrant>({
  request_id: text,
  reason: text,
  reservation: nullable(
    object<Reservation>({
      calls: nullable(amount),
      tokens: nullable(amount),
      cost_micro_usd: nullable(amount),
      until: nullable(amount),
    }),
  ),
});

const executor = variant<'kind', PlannedExecutor>('kind', {
  agent: object({ kind: literal('agent') }),
  triad: object({
    kind: literal('triad'),
    type: wordOf({ hierarchical: true, dialectic: true, consensus: true }),
  }),
  team: object({ kind: literal('team'), team_id: nullable(text) }),
});

const waveProgress = object<WaveProgress>({
  wave: integer(1),
  plan_ref: hash,
  summary: text,
  delegations: list(
    object<PlannedDelegation>({
      delegation_id: text,
      agent_id: text,
      title: text,
      depends_on: list(text),
      executor,
      rule_of_two: optional(text),
    }),
  ),
  criterion_ids: list(text),
  usage: (value) => readUsage(value) ?? undefined,
  mode: optional(
    object<ModeChoice>({
      mode: (value) => (['direct', 'designed'] as const).find((name) => name === value),
      reasons: list(text),
    }),
  ),
});

const delivery = object<Delivery>({
  escalation_id: text,
  answers: list(
    object<DeliveredAnswer>({
      question_id: text,
      text,
      answer: nullable(text),
      answer_ref: nullable(text),
      answered_by: text,
      loop: flag,
      note_id: optional(text),
    }),
  ),
});

const newsItem = variant<'type', NewsItem>('type', {
  answer: object<NewsAnswer>({
    news_id: integer(1),
    type: literal('answer'),
    question_id: text,
    text,
    answer: text,
    answer_ref: nullable(text),
    answered_by: text,
    delegation_id: nullable(text),
    changed: flag,
    contradicts: optional(text),
  }),
  instruction: object<NewsInstruction>({
    news_id: integer(1),
    type: literal('instruction'),
    instruction: text,
    criteria_waived: list(text),
  }),
});

const designProgress = object<DesignProgress>({
  status: literal('designing'),
  approved_by: nullable(text),
  materials: list(
    object<DesignMaterial>({
      stage: (value) => designStageNames.find((name) => name === value),
      subject: nullable(text),
      ref: hash,
    }),
  ),
  plan_refs: list(hash),
  findings: list(object<PlanFinding>({ rule: text, path: text, message: text, cure: text })),
  usage: (value) => readUsage(value) ?? undefined,
});

/** Returns a reader that gives null for what does not fit. */
export const readOrNull =
  <T>(reader: Reader<T>) =>
  (payload: unknown): T | null =>
    reader(payload) ?? null;

/** Reads the progress that a wave reports to its run. */
export const checkProgress = readOrNull(waveProgress);
/** Reads the progress that a design reports to its run. */
export const checkDesigned = readOrNull(designProgress);

/** Reads the answers that a parent delivers to the child that asked. */
export const checkDelivery = readOrNull(delivery);
/** Reads news that a parent delivers. */
export const checkNews = readOrNull(object<NewsDelivery>({ news: list(newsItem) }));
export const checkBudgetRequest = readOrNull(object<BudgetRequest>(requestFields));
export const checkBudgetGrant = readOrNull(budgetGrant);
