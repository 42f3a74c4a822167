/**
 * Reads messages of people that steer a run.
 *
 * Invariants:
 *   K1. No payload throws, whatever its shape.
 *   K2. An instruction is taken exactly as it was sent, or refused with the reason and an example.
 *   K3. Pause, resume and stop take nothing, a reason as text, or an object with one; resume also `parked_only`. Anything else
 *       is refused.
 */
import type { AmendMessage, NewsInstruction } from '../../contracts/messages.ts';
import { isRecord } from '../json.ts';
import { engineLimits } from '../limits.ts';
import { normaliseKey } from '../pool/admit-facts.ts';
import { describeUserFact } from '../pool/settle-facts.ts';
import { findAnswerFault, findTextFault } from '../questions/check-answer.ts';
import { cleanLine, cutText } from '../text/cut-text.ts';
import { commandText } from '../text/format.ts';
import { findUnknownKey, findUnreadable, listNames } from '../text/list-names.ts';
import { idText } from './read-messages.ts';
import type { UserFact } from '../../contracts/agent-output.ts';
import type { CriterionState } from '../../contracts/criterion.ts';

export type CheckedAmend =
  | { readonly ok: true; readonly amend: AmendMessage }
  | { readonly ok: false; readonly reason: string; readonly example: AmendMessage };

/** Beginning of every reason with which a run refuses an instruction. */
export const amendRefusal = 'Signal amend: ';

export const amendsTooMany = `${amendRefusal}a run checks changed answers ${engineLimits.amendsJudgedMax} times at most. Try: an instruction without answers`;

/** @param wave Number of waves that have ended; null for a part that was started alone, which can't be forked. */
export function amendTooLate(runId: string, wave: number | null): string {
  if (wave === null) {
    return `${amendRefusal}its work has ended. Try: start a new one, with the instruction in its input`;
  }
  const fork = commandText('fork', runId, '--wave', String(wave + 1));
  return `${amendRefusal}the run is writing its result. Try: ${fork}, with --amend`;
}

/** @param what An instruction or a changed answer that came during the last call of a part that was started alone. */
export function amendUnread(what: string): string {
  const shown = JSON.stringify(cutText(what, 200));
  return `${amendRefusal}it came during the last call of the work, so no call has read ${shown}. Try: start a new one, with the instruction in its input`;
}

/** @returns null when there are all. */
export function unknownCriteria(
  ids: readonly string[],
  criteria: readonly CriterionState[],
): string | null {
  const known = criteria.map(({ criterion_id }) => criterion_id);
  const unknown = ids.filter((id) => !known.includes(id));
  if (unknown.length === 0) return null;
  const all = known.length === 0 ? 'There are none yet' : `Criteria are: ${listNames(known)}`;
  return `${amendRefusal}there is no criterion ${listNames(unknown)}. ${all}.`;
}

/** Longest reason; it is cut because it stands in summaries. */
const reasonCharsMax = 500;

const criterionIdCharsMax = 100;

export function checkAmend(payload: unknown): CheckedAmend {
  if (!isRecord(payload)) return refuseAmend('expected one JSON object with an instruction');
  const parts = findUnreadable(payload) ?? findAmendKey(payload) ?? readParts(payload);
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

/** Returns true for an instruction that says only which criteria the user gave up: for that, no call has to read it. */
export function onlyWaives({
  instruction,
  criteria_waived: waived,
}: Pick<NewsInstruction, 'instruction' | 'criteria_waived'>): boolean {
  return waived.length > 0 && instruction === describeAmend({ waived, answers: [], facts: [] });
}

/** @returns the reason why changed answers can't be handed on, or null: an activity gets them, in one payload. */
export function findAnswersFault(answers: AmendAnswers): string | null {
  for (const { question_id, answer = null } of answers) {
    const fault = findAnswerFault(answer);
    if (fault !== null) return `${question_id}: ${fault}`;
  }
  const { length } = JSON.stringify(answers);
  const max = engineLimits.amendedAnswersCharsMax;
  return length > max ? `answers have ${length} characters as JSON, the limit is ${max}` : null;
}

/** Reads answers. A single one counts as a list of one, and `Q1 ` as q1, which is its only possible meaning. */
function readAnswers(value: unknown): AmendAnswers | null {
  if (value === undefined || value === null) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > engineLimits.amendedAnswersMax) return null;
  const answers = list.flatMap((one) => {
    const typed = isRecord(one) ? one['question_id'] : null;
    const question_id = idText(typeof typed === 'string' ? typed.trim().toLowerCase() : null);
    return isRecord(one) && question_id !== undefined
      ? [{ question_id, answer: one['answer'] }]
      : [];
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

const controlFault = 'expected {"reason":"…"} or nothing. Nothing was changed';

/** Checks the payload of pause, resume and stop. A stop can't be taken back, so nothing is guessed. */
export function checkControl(payload: unknown): CheckedControl {
  const isObject = isRecord(payload) && Object.keys(payload).every((key) => key === 'reason');
  const reason = (isObject ? payload['reason'] : payload) ?? '';
  return typeof reason === 'string'
    ? { ok: true, reason: cleanLine(reason, reasonCharsMax) }
    : { ok: false, reason: withExample(controlFault, { reason: 'budget meeting' }) };
}

/** Checks the payload of resume, which may end a park and leave a pause. */
export function checkResume(payload: unknown): CheckedControl & { readonly parkedOnly: boolean } {
  if (!isRecord(payload) || payload['parked_only'] === undefined) {
    return { ...checkControl(payload), parkedOnly: false };
  }
  const { parked_only, ...others } = payload;
  if (typeof parked_only === 'boolean') {
    return { ...checkControl(others), parkedOnly: parked_only };
  }
  const reason = 'parked_only must be true or false. Nothing was changed';
  return { ok: false, reason: withExample(reason, { parked_only: true }), parkedOnly: false };
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

function refuseAmend(fault: string): CheckedAmend {
  const example = { instruction: 'Compare the prices too', waive_criteria: ['goal-2'] };
  return { ok: false, reason: withExample(fault, example), example };
}

function withExample(fault: string, example: object): string {
  return `${fault}${/[.?]$/.test(fault) ? '' : '.'} Try: ${JSON.stringify(example)}`;
}
