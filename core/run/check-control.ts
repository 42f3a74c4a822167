/**
 * Reads messages that steer a run, sent by hand or by a child workflow.
 *
 * Invariants:
 *   K1. No payload throws, whatever its shape.
 *   K2. An instruction is taken exactly as it was sent, or refused with the reason and an example.
 *   K3. Pause, resume and stop take nothing, a reason as text, or an object with one. Anything else is refused.
 *   K4. A payload that is no escalation of ours gives null; an escalation keeps only the known fields.
 */
import type {
  AmendMessage,
  Escalation,
  BudgetEscalation,
  QuestionsEscalation,
} from '../../contracts/messages.ts';
import type { UserFact } from '../../contracts/fact.ts';
import { checkBudgetRequest, readSpending } from '../budget/check-reservation.ts';
import { engineLimits } from '../limits.ts';
import { normaliseKey } from '../pool/normalise-fact.ts';
import { describeUserFact } from '../pool/settle-facts.ts';
import { findTextFault } from '../questions/find-text-fault.ts';
import { cleanLine, cutText } from '../text/cut-text.ts';
import { findUnknownKey, listNames } from '../text/list-names.ts';
import { readAskedQuestion } from './read-asked-question.ts';
import { readEffect } from './read-effect.ts';
import { readPlannerVerdict } from './read-planner-verdict.ts';
import { isRecord } from '../is-record.ts';

export type CheckedAmend =
  | { readonly ok: true; readonly amend: AmendMessage }
  | { readonly ok: false; readonly reason: string; readonly example: AmendMessage };

/** Longest reason; it is cut because it stands in summaries. */
const reasonCharsMax = 500;

/** Longest id. Ids on the wire are short paths, so a longer one is not ours. */
const idCharsMax = 1_000;

const criterionIdCharsMax = 100;

export function checkAmend(payload: unknown): CheckedAmend {
  if (!isRecord(payload)) return refuseAmend('expected one JSON object with an instruction');
  const parts = findAmendKey(payload) ?? readParts(payload);
  if (typeof parts === 'string') return refuseAmend(parts);
  const { waived, answers, facts } = parts;
  const written = payload['instruction'] ?? '';
  if (typeof written !== 'string') return refuseAmend('instruction must be text');
  const fault = findInstructionFault(written);
  if (fault !== null) return refuseAmend(fault);
  const isBlank = written.trim() === '';
  if (isBlank && waived.length + answers.length + facts.length === 0) {
    return refuseAmend('the instruction is empty');
  }
  return { ok: true, amend: toAmend(parts, isBlank ? describeAmend(parts) : written) };
}

function toAmend({ waived, answers, facts }: AmendParts, instruction: string): AmendMessage {
  return {
    instruction,
    ...(waived.length === 0 ? {} : { waive_criteria: waived }),
    ...(answers.length === 0 ? {} : { answers }),
    ...(facts.length === 0 ? {} : { facts }),
  };
}

const amendKeys = ['instruction', 'waive_criteria', 'answers', 'facts'];

/** Finds an unknown field of an instruction, or of one of its answers and facts. */
function findAmendKey(payload: Readonly<Record<string, unknown>>): string | null {
  const fields = [
    { values: [payload], keys: amendKeys },
    { values: [payload['answers']].flat(), keys: ['question_id', 'answer'] },
    { values: [payload['facts']].flat(), keys: ['key', 'value'] },
  ];
  for (const { values, keys } of fields) {
    for (const value of values) {
      const unknown = isRecord(value) ? findUnknownKey(value, keys) : null;
      if (unknown !== null) return unknown;
    }
  }
  return null;
}

/** Optional parts of an instruction. */
interface AmendParts {
  readonly waived: readonly string[];
  readonly answers: AmendAnswers;
  readonly facts: readonly UserFact[];
}

/** @returns the reason as text when a part is invalid. */
function readParts(payload: Readonly<Record<string, unknown>>): AmendParts | string {
  const { waivedCriteriaMax, amendedAnswersMax, amendedFactsMax } = engineLimits;
  const { factKeyCharsMax, factValueCharsMax } = engineLimits;
  const waived = readWaived(payload['waive_criteria']);
  if (waived === null) {
    return `waive_criteria must be a list of at most ${waivedCriteriaMax} criterion_ids`;
  }
  const answers = readAnswers(payload['answers']);
  if (answers === null) {
    return `answers must be a list of at most ${amendedAnswersMax} objects with question_id and answer`;
  }
  const facts = readFacts(payload['facts']);
  if (facts === null) {
    return `facts must be a list of at most ${amendedFactsMax} objects with key (at most ${factKeyCharsMax} characters) and value (at most ${factValueCharsMax}), each key once`;
  }
  return { waived, answers, facts };
}

type AmendAnswers = NonNullable<AmendMessage['answers']>;

function describeAmend({ waived, answers, facts }: AmendParts): string {
  const ids = answers.map(({ question_id }) => question_id);
  return [
    ...(waived.length === 0 ? [] : [`The user gave up these criteria: ${listNames(waived)}.`]),
    ...(ids.length === 0 ? [] : [`The user changed the answers to: ${listNames(ids)}.`]),
    ...facts.map(describeUserFact),
  ].join(' ');
}

/** Reads answers. A single one counts as a list of one, and `Q1 ` as q1, which is its only possible meaning. */
function readAnswers(value: unknown): AmendAnswers | null {
  if (value === undefined || value === null) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > engineLimits.amendedAnswersMax) return null;
  const answers = list.flatMap((one) => {
    const id = isRecord(one) ? one['question_id'] : null;
    const question_id = typeof id === 'string' ? id.trim().toLowerCase() : '';
    if (!isRecord(one) || !isId(question_id)) return [];
    return [{ question_id, answer: one['answer'] }];
  });
  return answers.length === list.length ? answers : null;
}

/** Reads facts. A single one counts as a list of one, and a number or a boolean as its text. */
function readFacts(value: unknown): readonly UserFact[] | null {
  if (value === undefined || value === null) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > engineLimits.amendedFactsMax) return null;
  const facts = list.flatMap((one) => (isRecord(one) ? (readFact(one) ?? []) : []));
  const keys = new Set(facts.map(({ key }) => normaliseKey(key)));
  return facts.length === list.length && keys.size === list.length ? facts : null;
}

function readFact(one: Readonly<Record<string, unknown>>): UserFact | null {
  const key = typeof one['key'] === 'string' ? one['key'].trim() : '';
  const said = one['value'];
  const value =
    typeof said === 'string' || typeof said === 'number' || typeof said === 'boolean'
      ? String(said).trim()
      : '';
  const fits =
    key.length <= engineLimits.factKeyCharsMax &&
    value.length <= engineLimits.factValueCharsMax &&
    value !== '' &&
    findTextFault(value) === null &&
    findTextFault(key) === null;
  return fits && normaliseKey(key) !== null ? { key, value } : null;
}

/** A pause, resume or stop as checked; without `ok`, `reason` says what was expected. */
export interface CheckedControl {
  readonly ok: boolean;
  readonly reason: string;
}

/** Checks the payload of pause, resume and stop. A stop can't be taken back, so nothing is guessed. */
export function checkControl(payload: unknown): CheckedControl {
  const isObject = isRecord(payload) && Object.keys(payload).every((key) => key === 'reason');
  const reason = (isObject ? payload['reason'] : payload) ?? '';
  return typeof reason === 'string'
    ? { ok: true, reason: cleanLine(reason, reasonCharsMax) }
    : { ok: false, reason: 'expected {"reason":"…"} or nothing. Nothing was changed' };
}

/** @returns null for a payload that no workflow of ours sends. */
export function checkEscalation(payload: unknown): Escalation | null {
  if (!isRecord(payload)) return null;
  const { type, from, reason } = payload;
  if (!isId(from)) return null;
  if (type === 'parked') {
    if (typeof reason !== 'string') return null;
    return { type: 'parked', from, reason: cutText(reason, engineLimits.amendmentCharsMax) };
  }
  if (type === 'withdrawn') {
    const { delegation_id } = payload;
    return isId(delegation_id) ? { type: 'withdrawn', from, delegation_id } : null;
  }
  if (type === 'budget') return readReservation(payload, from);
  if (type === 'effect') {
    const effect = readEffect(payload['effect']);
    return effect === null ? null : { type: 'effect', from, effect };
  }
  return type === 'questions' ? readQuestions(payload, from) : null;
}

function readReservation(
  payload: Readonly<Record<string, unknown>>,
  from: string,
): BudgetEscalation | null {
  const { delegation_id } = payload;
  const request = checkBudgetRequest(payload);
  if (request === null || !isId(delegation_id)) return null;
  return { type: 'budget', from, delegation_id, ...request };
}

function readQuestions(
  payload: Readonly<Record<string, unknown>>,
  from: string,
): QuestionsEscalation | null {
  const { escalation_id, wave, delegation_id, agent_id } = payload;
  const kind = kinds.find((k) => k === payload['kind']);
  const questions = readQuestionList(payload['questions']);
  if (!isId(escalation_id) || kind === undefined || questions === null) return null;
  if (typeof wave !== 'number' || !Number.isInteger(wave) || wave < 0) return null;
  if (!isIdOrNull(delegation_id) || !isIdOrNull(agent_id)) return null;
  const spent = readSpending(payload['spent']);
  const verdicts = Array.isArray(payload['verdicts'])
    ? { verdicts: payload['verdicts'].slice(0, questions.length).map(readPlannerVerdict) }
    : {};
  return {
    type: 'questions',
    escalation_id,
    from,
    kind,
    wave,
    delegation_id,
    agent_id,
    questions,
    ...(spent !== null && { spent }),
    ...readDeadline(payload['deadline_seconds']),
    ...verdicts,
  };
}

/** Reads a deadline in seconds; anything else means no deadline. */
function readDeadline(value: unknown): Pick<QuestionsEscalation, 'deadline_seconds'> {
  const isDeadline = typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
  return isDeadline ? { deadline_seconds: value } : {};
}

const kinds: readonly QuestionsEscalation['kind'][] = [
  'blocking',
  'planner',
  'planner_stuck',
  'approval',
  'effect',
  'waves_spent',
  'budget',
  'changes',
];

function readQuestionList(value: unknown): QuestionsEscalation['questions'] | null {
  if (!Array.isArray(value) || value.length > engineLimits.escalationQuestionsMax) return null;
  const questions = value.map(readAskedQuestion);
  return questions.every((q) => q !== null) ? questions : null;
}

function findInstructionFault(text: string): string | null {
  const max = engineLimits.amendmentCharsMax;
  if (text.length > max) {
    return `the instruction has ${text.length} characters, the limit is ${max}`;
  }
  if (text.includes('\u0000')) return 'the instruction contains a NUL character';
  if (/\p{Surrogate}/u.test(text)) {
    return 'the instruction contains half of a surrogate pair, which is no character';
  }
  return null;
}

/** Reads ids. A single one counts as a list of one. */
function readWaived(value: unknown): string[] | null {
  if (value === undefined || value === null) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > engineLimits.waivedCriteriaMax) return null;
  const ids = list.map((id) => (typeof id === 'string' ? id.trim() : ''));
  const isEach = ids.every((id) => id !== '' && id.length <= criterionIdCharsMax);
  return isEach ? [...new Set(ids)] : null;
}

function refuseAmend(reason: string): CheckedAmend {
  return {
    ok: false,
    reason,
    example: { instruction: 'Compare the prices too', waive_criteria: ['goal-2'] },
  };
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= idCharsMax;
}

function isIdOrNull(value: unknown): value is string | null {
  return value === null || isId(value);
}
