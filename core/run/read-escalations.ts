/**
 * Reads escalations, which children send to the topmost workflow.
 *
 * Invariants: WM1 and WM2 of `read-messages`.
 */
import type { CommandReceipt, EffectReceipt, RecordedEffect } from '../../contracts/effect.ts';
import type {
  BudgetEscalation,
  EffectEscalation,
  Escalation,
  ParkedEscalation,
  QuestionsEscalation,
  SessionEscalation,
  WithdrawnEscalation,
} from '../../contracts/messages.ts';
import type { SessionReport } from '../../contracts/note.ts';
import type { PlannerVerdict, AskedQuestion } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import {
  idText,
  readOrNull,
  requestFields,
  spending,
  cutTo,
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
} from './read-messages.ts';

/** Longest text in the report on an effect. It is cut there. */
const effectText = cutTo(1_000);

const receipt = object<EffectReceipt>({
  target: effectText,
  sha256: hash,
  bytes: integer(0),
  removed: optional(literal(true)),
  replaced_ref: optional(hash),
  replaced_mode: optional(integer(0)),
  content_ref: optional(hash),
  call: optional(literal(true)),
  web: optional(object({ searches: integer(0), opened: integer(0) })),
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
  verdict: wordOf({
    answered: true,
    assumed: true,
    awaits: true,
    needs_user_input: true,
    architect: true,
  }),
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
    verification: true,
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
  before_request: optional(idText),
  deadline_seconds: optional(integer(1)),
  budget_scope: optional(wordOf({ run: true, wave: true, delegation: true })),
});

const session = object<SessionReport>({
  delegation_id: idText,
  agent_id: idText,
  status: wordOf({
    pending: true,
    working: true,
    completion_drive_review: true,
    ready_for_verification: true,
    verified: true,
    blocked: true,
    failed: true,
    session_complete: true,
  }),
  at: integer(0),
  count: integer(0),
  unresolved: integer(0),
  session_ref: hash,
  refused: optional(list(idText, engineLimits.notesMax)),
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
    until: optional(integer(0)),
  }),
  withdrawn: object<WithdrawnEscalation>({
    type: literal('withdrawn'),
    from: idText,
    delegation_id: nullable(idText),
    escalation_id: optional(idText),
  }),
  budget: object<BudgetEscalation>({
    type: literal('budget'),
    from: idText,
    delegation_id: idText,
    ...requestFields,
  }),
  effect: object<EffectEscalation>({ type: literal('effect'), from: idText, effect }),
  session: object<SessionEscalation>({ type: literal('session'), from: idText, session }),
});

export const checkEscalation = readOrNull(escalation);
export const readEffect = readOrNull(effect);
