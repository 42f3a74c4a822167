/**
 * Reads messages that our workflows send each other, and that people may imitate by hand.
 *
 * Invariants:
 *   WM1. No payload throws, whatever its shape.
 *   WM2. A payload that no workflow of ours sends gives null; one of ours is returned with its known fields.
 */
import type { BudgetGrant, BudgetRequest, Reservation, Spending } from '../../contracts/budget.ts';
import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type { DesignProgress } from '../../contracts/design-run.ts';
import type { DesignMaterial } from '../../contracts/design.ts';
import type { CommandReceipt, EffectReceipt, RecordedEffect } from '../../contracts/effect.ts';
import type { PlannedExecutor } from '../../contracts/executor.ts';
import type {
  BudgetEscalation,
  DeliveredAnswer,
  Delivery,
  EffectEscalation,
  Escalation,
  NewsAnswer,
  NewsDelivery,
  NewsInstruction,
  NewsItem,
  ParkedEscalation,
  PlannedDelegation,
  QuestionsEscalation,
  WaveProgress,
  WithdrawnEscalation,
} from '../../contracts/messages.ts';
import type { PlannerVerdict, AskedQuestion } from '../../contracts/question.ts';
import { designStageNames } from '../../contracts/names.ts';
import { engineLimits } from '../limits.ts';
import { readUsage } from '../usage/add-usage.ts';
import {
  amount,
  cutTo,
  flag,
  hash,
  integer,
  list,
  literal,
  nullable,
  object,
  optional,
  orNull,
  text,
  textUpTo,
  variant,
  wordOf,
} from './reader.ts';
import type { Reader } from './reader.ts';

/** Reads an id. Ids on the wire are short paths, so a longer one is not ours. */
export const idText = textUpTo(1_000);

const spending = object<Spending>({ calls: amount, tokens: amount, cost_micro_usd: amount });

const requestFields = {
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

/** Longest text in the report on an effect. It is cut there. */
const effectText = cutTo(1_000);

const receipt = object<EffectReceipt>({
  target: effectText,
  sha256: hash,
  bytes: integer(0),
  removed: optional(literal(true)),
  replaced_ref: optional(hash),
  content_ref: optional(hash),
  call: optional(literal(true)),
  command: optional(
    object<CommandReceipt>({
      exit_code: orNull(integer(0)),
      confined: (value) => value === true,
      output_ref: orNull(hash),
    }),
  ),
});

const effect = object<RecordedEffect>({
  effect_id: effectText,
  wave: integer(0),
  delegation_id: effectText,
  agent_id: effectText,
  tool: effectText,
  arguments_ref: hash,
  state: wordOf({
    intended: true,
    confirmed: true,
    unverified: true,
    skipped: true,
    failed: true,
    denied: true,
  }),
  target: effectText,
  receipt: nullable(receipt),
  reason: effectText,
  approval_question_id: nullable(effectText),
  updated_at: integer(0),
});

const { questionCharsMax, factKeyCharsMax, escalationQuestionsMax, amendmentCharsMax } =
  engineLimits;

const choiceCharsMax = 200;

/** Long texts are cut: the asker waits for its answer. */
const askedQuestion = object<AskedQuestion>({
  text: (value) => (value === '' ? undefined : cutTo(questionCharsMax)(value)),
  why_it_matters: cutTo(questionCharsMax),
  priority: wordOf({ critical: true, high: true, normal: true, low: true }),
  expected_answer_format: wordOf({
    text: true,
    boolean: true,
    number: true,
    choice: true,
    json: true,
  }),
  choices: list((value) => {
    const choice = text(value);
    return choice !== undefined && choice.length <= choiceCharsMax ? choice : undefined;
  }, 20),
  // A cut default would be another answer, so one that is too long is left out.
  default_answer: (value) =>
    typeof value === 'string' && value.length > questionCharsMax ? null : nullable(text)(value),
  fact_key: optional(textUpTo(factKeyCharsMax)),
});

/** A verdict that does not fit counts as none: the question is put to the user. */
const plannerVerdict = object<PlannerVerdict>({
  verdict: wordOf({ answered: true, assumed: true, needs_user_input: true }),
  answer: nullable(text),
  source_refs: (value) => {
    const refs: readonly unknown[] = Array.isArray(value) ? value : [];
    return refs
      .filter((ref) => typeof ref === 'string')
      .filter((ref) => ref.length <= 200)
      .slice(0, 20);
  },
  reason: cutTo(questionCharsMax / 2),
});

const questionsEscalation = object<QuestionsEscalation>({
  type: literal('questions'),
  escalation_id: idText,
  from: idText,
  kind: wordOf({
    blocking: true,
    planner: true,
    design: true,
    plan_approval: true,
    changes: true,
    planner_stuck: true,
    approval: true,
    effect: true,
    waves_spent: true,
    budget: true,
  }),
  wave: integer(0),
  delegation_id: nullable(idText),
  agent_id: nullable(idText),
  questions: list(askedQuestion, escalationQuestionsMax),
  verdicts: optional(list(orNull(plannerVerdict))),
  spent: optional(spending),
  deadline_seconds: optional(integer(1)),
});

const escalation = variant<'type', Escalation>('type', {
  questions: (value) => {
    const read = questionsEscalation(value);
    if (read?.verdicts === undefined) return read;
    return { ...read, verdicts: read.verdicts.slice(0, read.questions.length) };
  },
  parked: object<ParkedEscalation>({
    type: literal('parked'),
    from: idText,
    reason: cutTo(amendmentCharsMax),
  }),
  withdrawn: object<WithdrawnEscalation>({
    type: literal('withdrawn'),
    from: idText,
    delegation_id: idText,
  }),
  budget: object<BudgetEscalation>({
    type: literal('budget'),
    from: idText,
    delegation_id: idText,
    ...requestFields,
  }),
  effect: object<EffectEscalation>({ type: literal('effect'), from: idText, effect }),
});

const readOrNull =
  <T>(reader: Reader<T>) =>
  (payload: unknown): T | null =>
    reader(payload) ?? null;

export const checkEscalation = readOrNull(escalation);
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
export const readEffect = readOrNull(effect);
