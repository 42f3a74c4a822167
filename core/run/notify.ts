/**
 * Decides when a person is told that a run needs one, and what the message says.
 *
 * Invariants:
 *   NT1. A question that opens while those of an earlier message all wait is no message of its own.
 *   NT2. A question that opens after a question of the earlier message was closed is a new message.
 *   NT3. A run that parks is one message until a person resumes it, or it works again: one that tries by itself and parks
 *        again was told, unless it then no longer goes on by itself, or for another reason.
 *   NT4. One event has one id, whatever repeats it, and different events have different ids.
 *   NT5. No text of a message has line breaks or control characters, and each has a bound.
 *   NT6. The state names only questions that were open at one time, so the inbox bounds it.
 */
import type { Notification, NotifiedState } from '../../contracts/notification.ts';
import type { Question } from '../../contracts/question.ts';
import { describeWait } from '../render/questions.ts';
import { cleanLine } from '../text/cut-text.ts';
import { commandText, countOf, formatDollars } from '../text/format.ts';
import { hashText } from '../text/hash-text.ts';

export const nothingNotified: NotifiedState = { count: 0, told: [], parked: false };

/** Most characters of a text in a message. */
const textCharsMax = 300;

/** Waits of a run for a person. */
export interface Waits {
  readonly parked: string | null;
  /** True when this park goes on with one that the person was told of. */
  readonly again: boolean;
  readonly open: readonly Question[];
}

export interface Due {
  readonly text: string;
  /** Id of a question, `parked`, or the status of a run that has ended. */
  readonly event: string;
}

export interface NotifyStep {
  readonly state: NotifiedState;
  /** Null when nothing is to be told. */
  readonly due: Due | null;
}

/** Returns what a person has to be told of the waits, if anything. */
export function stepNotified(state: NotifiedState, { parked, again, open }: Waits): NotifyStep {
  const ids = open.map(({ question_id }) => question_id);
  const allWait = state.told.length > 0 && state.told.every((id) => ids.includes(id));
  const fresh = allWait ? undefined : open.find((one) => !state.told.includes(one.question_id));
  const hasParked = parked !== null && !state.parked && !again;
  // The user who looks at what was told finds the others beside it.
  const told = allWait || fresh !== undefined || ids.length === 0 ? ids : state.told;
  const next = { ...state, told, parked: parked !== null && (state.parked || !again) };
  if (hasParked) return tell(next, 'parked', `parked: ${parked}`);
  return fresh === undefined
    ? { state: next, due: null }
    : tell(next, fresh.question_id, describeWait(fresh, textCharsMax));
}

/** Milliseconds within which a run that parks has not worked since it went on: a refused call fails at once. */
const sameParkMs = 10 * 60 * 1_000;

/**
 * Returns true when a park goes on with the one before.
 *
 * @param wokenAt Unix epoch milliseconds at which the run went on by itself. Null after a resume, and before the first park.
 */
export function isSamePark(wokenAt: number | null, now: number): boolean {
  return wokenAt !== null && now - wokenAt <= sameParkMs;
}

/** Returns the part of a reason that tells one kind of park from another: amounts differ from one try to the next. */
export function parkKind(reason: string): string {
  const [what = ''] = reason.split(':', 1);
  return what.replace(/\d[\d.,]*/gu, '0');
}

function tell(state: NotifiedState, event: string, text: string): NotifyStep {
  const due = { text: cleanLine(text, textCharsMax), event };
  return { state: { ...state, count: state.count + 1 }, due };
}

/**
 * Returns the id of a notification. After a reset the same event comes again under the same number and after as many model
 * calls. No text of the engine is part of it: histories keep the id, and another version may say the same in other words.
 *
 * @param firstExecution Id of the first execution of the run, which resets and continuations keep.
 */
export function notificationId(
  firstExecution: string,
  { kind }: Pick<Notification, 'kind'>,
  count: number,
  { event, calls }: Pick<Due, 'event'> & { readonly calls: number },
): string {
  return `msg_${hashText(JSON.stringify([firstExecution, kind, count, event, calls]))}`;
}

/** A notification as it is sent: the body of a webhook, and the standard input of a command. */
export interface NotificationBody {
  readonly id: string;
  /** `run.needs_user`, `run.ended` or `run.test`. */
  readonly type: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly data: {
    readonly run_id: string;
    readonly kind: Notification['kind'];
    readonly phase: string;
    readonly goal: string;
    readonly text: string;
    readonly open_questions: number;
    readonly cost_usd: number;
    /** Command that answers, resumes or shows the result. */
    readonly command: string;
    /** All of it in one line for people. */
    readonly summary: string;
  };
}

/** @param timestamp Its time as ISO 8601. */
export function renderNotification(
  notification: Omit<Notification, 'at'>,
  timestamp: string,
): NotificationBody {
  const { id, kind, run_id, phase, open_questions, cost_micro_usd } = notification;
  const goal = cleanLine(notification.goal, textCharsMax);
  const text = cleanLine(notification.text, textCharsMax);
  const command = commandOf(notification);
  const name = cleanLine(run_id, textCharsMax);
  const cost = formatDollars(cost_micro_usd);
  const waits =
    open_questions === 0 ? text : `${text} (${countOf(open_questions, 'open question')})`;
  const summaries: Record<Notification['kind'], string> = {
    needs_user: `${name} needs you: ${waits}. ${goal}. ${cost} so far. ${command}`,
    ended: `${name} has ended (${phase}): ${goal}. ${cost}. ${command}`,
    test: `${name}: ${text}`,
  };
  return {
    id,
    type: `run.${kind}`,
    timestamp,
    data: {
      run_id,
      kind,
      phase,
      goal,
      text,
      open_questions,
      cost_usd: cost_micro_usd / 1_000_000,
      command,
      summary: cleanLine(summaries[kind], textCharsMax * 4),
    },
  };
}

function commandOf({ kind, run_id, phase, open_questions }: Omit<Notification, 'at'>): string {
  if (kind === 'test') return commandText('doctor');
  if (kind === 'ended') return commandText('report', run_id);
  if (phase === 'parked') return commandText('resume', run_id);
  return open_questions === 0 ? commandText('status', run_id) : commandText('answer', run_id);
}
