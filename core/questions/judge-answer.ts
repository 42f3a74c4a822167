/**
 * Judges a message with an answer for an inbox. It changes nothing, so that a validator can ask beforehand.
 *
 * Invariants:
 *   JA1. Every payload gets a verdict: taken, repeated, or refused with the reason.
 *   JA2. An answer is taken only for an open question, and only when the question's format accepts it.
 *   JA3. A question that was answered keeps its first answer; another one is refused and shows the first.
 *   JA4. The same answer in another accepted spelling is the same answer.
 *   JA5. The example beside a refusal would be taken.
 *   JA6. Without a question_id, the answer is for the only open question; with several it is refused, and so is one that
 *        lets the run act or spend.
 *   JA7. A sender can't sign as the engine: such a name counts as none. `as_default` takes the default, and nothing else.
 *   JA8. A message with an unknown field is refused, with the nearest known one: a mistyped question_id answers nothing.
 *   JA9. A decision that lets the run act or spend is taken only from an approver, if approvers are named.
 *   JA10. A chat client's model answers questions about the work and decides nothing else.
 *   JA11. A person who repeats a default, an assumption or an answer of a model confirms it. No model does, and no decision is
 *         confirmed.
 */
import type { CarriedInbox } from '../../contracts/planner-run.ts';
import type { AcceptedAnswer, AnswerInput, Question } from '../../contracts/question.ts';
import type { QuestionWait } from '../../contracts/views.ts';
import { answererNames, chatAnswerer } from '../../contracts/names.ts';
import { engineLimits } from '../limits.ts';
import { cleanLine, cutText } from '../text/cut-text.ts';
import { hashText } from '../text/hash-text.ts';
import { findUnknownKey, findUnreadable, listNames } from '../text/list-names.ts';
import {
  checkAnswer,
  choiceByCase,
  choiceByNumber,
  findAnswerFault,
  needsExplicitWord,
  parseDefault,
} from './check-answer.ts';
import { isRecord } from '../json.ts';
import { informsWork, exampleAnswer, isPerson } from './answer-kinds.ts';

export type AnswerVerdict =
  | {
      readonly type: 'taken';
      readonly question: Question;
      readonly text: string;
      /** Null when the message names no sender. */
      readonly answered_by: string | null;
    }
  | {
      readonly type: 'repeated';
      readonly question_id: string;
      /** True when no person had given it until now. Absent otherwise. */
      readonly confirms?: true;
    }
  | {
      readonly type: 'refused';
      /** Null when the message names no question. */
      readonly question_id: string | null;
      readonly reason: string;
      readonly example: AnswerInput | null;
    };

type Inbox = Pick<CarriedInbox, 'open' | 'answered'>;

/** Longest name of a person; longer ones are cut. */
const answeredByCharsMax = 120;

/** Names that only the engine signs with. */
const engineNames: readonly string[] = Object.values(answererNames);

const answerKeys = ['question_id', 'answer', 'answered_by', 'as_default'];

const questionIdCharsMax = 60;

/** @param approvers Names of those who may decide what lets the run act or spend. Null: everyone who may send a message. */
export function judgeAnswer(
  inbox: Inbox,
  payload: unknown,
  approvers: readonly string[] | null = null,
): AnswerVerdict {
  if (!isRecord(payload)) {
    return refuse(inbox, null, 'expected one JSON object with question_id and answer');
  }
  const id = readQuestionId(payload);
  const unknown = findUnreadable(payload) ?? findUnknownKey(payload, answerKeys);
  if (unknown !== null) return refuse(inbox, id, unknown);
  if (id === null) {
    const [only] = inbox.open;
    const isClear = only !== undefined && inbox.open.length === 1 && !needsExplicitWord(only.kind);
    if (isClear) return judgeOpen(only, payload, approvers);
    return refuse(inbox, null, `question_id is missing. ${describeOpen(inbox)}`);
  }
  const question = inbox.open.find((q) => q.question_id === id);
  if (question !== undefined) return judgeOpen(question, payload, approvers);
  const accepted = Object.hasOwn(inbox.answered, id) ? inbox.answered[id] : undefined;
  if (accepted !== undefined) return judgeAgain(id, accepted, payload);
  const shown = JSON.stringify(cleanLine(id, questionIdCharsMax));
  return refuse(inbox, id, `there is no question ${shown} in this run. ${describeOpen(inbox)}`);
}

/** Returns the part of an accepted answer that is kept. `text` is the canonical one. */
export function acceptAnswer(
  question: Question,
  text: string,
  by: { readonly answered_by: string; readonly now: number },
): AcceptedAnswer {
  return {
    hash: hashText(text),
    same_hashes: question.expected_answer_format === 'choice' ? hashSpellings(question, text) : [],
    format: question.expected_answer_format,
    shown: cutText(text, engineLimits.shownAnswerCharsMax),
    answered_by: by.answered_by,
    answered_at: by.now,
    ...(needsExplicitWord(question.kind) && { is_decision: true }),
  };
}

function judgeOpen(
  question: Question,
  payload: Readonly<Record<string, unknown>>,
  approvers: readonly string[] | null,
): AnswerVerdict {
  const { question_id: id } = question;
  const checked = checkAnswer(question, payload['answer']);
  const signed = readAnsweredBy(payload['answered_by']);
  if (checked.ok) {
    const { text } = checked;
    const fault =
      findChatFault(question, signed) ??
      findSignatureFault(question, { payload, text, signed, approvers });
    if (fault !== null) {
      return { type: 'refused', question_id: id, reason: `${id}: ${fault}`, example: null };
    }
    const isNamedApprover = needsExplicitWord(question.kind) && signed !== null;
    const stated = isNamedApprover ? `${signed} (self-stated)` : signed;
    const answered_by = payload['as_default'] === true ? answererNames.default : stated;
    return { type: 'taken', question, text, answered_by };
  }
  const example = checked.example === null ? null : { question_id: id, answer: checked.example };
  return { type: 'refused', question_id: id, reason: `${id}: ${checked.reason}`, example };
}

interface Signature {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly signed: string | null;
  readonly approvers: readonly string[] | null;
}

/** @returns why a chat client's model can't give this answer, or null. */
function findChatFault({ kind }: Question, signed: string | null): string | null {
  if (signed !== chatAnswerer || informsWork(kind)) return null;
  return `only a person may decide this, and "${chatAnswerer}" signs for a chat client. Try: planwave answer`;
}

/** @returns why this sender can't give this answer, or null. */
function findSignatureFault(
  question: Question,
  { payload, text, signed, approvers }: Signature,
): string | null {
  const asDefault = payload['as_default'] ?? false;
  if (typeof asDefault !== 'boolean') return 'as_default must be true or false';
  const fallback = parseDefault(question);
  const isDefault = fallback?.ok === true && fallback.text === text;
  if (asDefault && !isDefault) return 'as_default is true, but the answer is not the default';
  // A default neither approves nor spends more, so that it needs no approver.
  const isOpenToAll = asDefault || approvers === null || !needsExplicitWord(question.kind);
  if (isOpenToAll || (signed !== null && approvers.includes(signed))) return null;
  return `only ${listNames(approvers)} may decide this. Try: planwave answer with --as and that name, or "answered_by" in the message`;
}

/** Returns the names of those who may decide a question, if not everyone may. */
export function listApprovers(
  { kind }: Question,
  approvers: readonly string[] | null,
): Pick<QuestionWait, 'approvers'> {
  return approvers === null || !needsExplicitWord(kind) ? {} : { approvers };
}

function judgeAgain(
  id: string,
  accepted: AcceptedAnswer,
  payload: Readonly<Record<string, unknown>>,
): AnswerVerdict {
  if (isSameAnswer(accepted, payload['answer'])) {
    const confirms = confirmsIt(accepted, payload) && { confirms: true as const };
    return { type: 'repeated', question_id: id, ...confirms };
  }
  const how = describeAccepted(accepted);
  const change =
    accepted.is_decision === true
      ? ''
      : `. To change it: planwave amend with --answer ${id}=…, or the signal amend with "answers"`;
  return {
    type: 'refused',
    question_id: id,
    reason: `${id} is answered already (${how}) and keeps its first answer${change}`,
    example: null,
  };
}

function confirmsIt(
  { answered_by, is_decision }: AcceptedAnswer,
  payload: Readonly<Record<string, unknown>>,
): boolean {
  const isDefault = (payload['as_default'] ?? false) !== false;
  const signed = readAnsweredBy(payload['answered_by']);
  const isOfPerson = !isDefault && (signed === null || isPerson(signed));
  const mayConfirm = answered_by !== answererNames.engine && !isPerson(answered_by);
  return isOfPerson && mayConfirm && is_decision !== true;
}

function describeAccepted({ answered_by, shown }: AcceptedAnswer): string {
  const text = JSON.stringify(shown);
  switch (answered_by) {
    case answererNames.default:
      return `the default was taken: ${text}`;
    case answererNames.assumption:
      return `nobody was asked: ${text} was assumed`;
    case answererNames.planner:
      return `the planner answered it from what the run knows: ${text}`;
    case answererNames.architect:
      return `the solution architect decided ${text}`;
    case answererNames.plannerAssumption:
      return `the planner let the agent assume ${text}`;
    default:
      return `${text} by ${answered_by}`;
  }
}

/** Compares with the kept format and hashes, because the question itself is gone by now. */
function isSameAnswer(accepted: AcceptedAnswer, answer: unknown): boolean {
  if (findAnswerFault(answer ?? null) !== null) return false;
  if (accepted.format === 'choice') {
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer ?? null);
    const spellings = [
      hashText(text),
      hashSpelling('case', text.trim().toLowerCase()),
      hashSpelling('number', text.trim()),
    ];
    return spellings.some((h) => h === accepted.hash || accepted.same_hashes.includes(h));
  }
  const rule = { expected_answer_format: accepted.format, choices: [], default_answer: null };
  const checked = checkAnswer(rule, answer);
  if (checked.ok && hashText(checked.text) === accepted.hash) return true;
  // JSON that was taken as an unparsed string, because only that fitted the schema.
  return accepted.format === 'json' && hashText(JSON.stringify(answer ?? null)) === accepted.hash;
}

/** Hashes the spellings, besides the choice's own text, that `checkAnswer` accepts for it. */
function hashSpellings(question: Question, choice: string): string[] {
  const { choices } = question;
  const trimmed = choice.trim();
  const hashes = [hashText(trimmed)];
  if (choiceByCase(choices, trimmed) === choice) {
    hashes.push(hashSpelling('case', trimmed.toLowerCase()));
  }
  const number = String(choices.indexOf(choice) + 1);
  if (choiceByNumber(choices, number) === choice) hashes.push(hashSpelling('number', number));
  return hashes;
}

function hashSpelling(kind: 'case' | 'number', text: string): string {
  return hashText(`${kind}\n${text}`);
}

function refuse(inbox: Inbox, id: string | null, reason: string): AnswerVerdict {
  const [first] = inbox.open;
  const answer =
    first === undefined ? null : exampleAnswer(first, (value) => checkAnswer(first, value).ok);
  const example =
    first === undefined || answer === null ? null : { question_id: first.question_id, answer };
  return {
    type: 'refused',
    question_id: id === null ? null : cleanLine(id, questionIdCharsMax),
    reason,
    example,
  };
}

function describeOpen(inbox: Inbox): string {
  if (inbox.open.length === 0) return 'No question is open';
  return `Open: ${listNames(inbox.open.map((q) => q.question_id))}`;
}

/** Reads the question_id of a message, and `Q1 ` as q1, which is its only possible meaning. */
export function readQuestionId(payload: Readonly<Record<string, unknown>>): string | null {
  const value = payload['question_id'];
  const id = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return id === '' ? null : id;
}

function readAnsweredBy(value: unknown): string | null {
  const name = typeof value === 'string' ? cleanLine(value, answeredByCharsMax) : '';
  return name === '' || engineNames.includes(name) ? null : name;
}
