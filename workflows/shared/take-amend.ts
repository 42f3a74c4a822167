/** Messages of people that change what the run works by: instructions, changed answers, and confirmed assumptions. */
import { workflowInfo } from '@temporalio/workflow';
import type { AmendedAnswer, AmendMessage } from '../../contracts/messages.ts';
import { workflowTypes } from '../../contracts/names.ts';
import { waiveCriteria, reopenChanged } from '../../core/criteria/criteria.ts';
import { isRecord } from '../../core/json.ts';
import { engineLimits } from '../../core/limits.ts';
import { describeUserFact } from '../../core/pool/settle-facts.ts';
import { judgeAnswer } from '../../core/questions/judge-answer.ts';
import {
  amendRefusal,
  amendTooLate,
  amendsTooMany,
  checkAmend,
  findAnswersFault,
  unknownCriteria,
} from '../../core/run/check-control.ts';
import { newsOfAnswer } from '../../core/run/news.ts';
import { judgeAnswers } from './activities.ts';
import { nowSeconds } from './clock.ts';
import { untilDone } from './failures.ts';
import type { RootHost } from './root-host.ts';

/** Takes a message of a person. Returns a promise only if it has to ask an activity. */
export type MessageHandler = (payload: unknown) => void | Promise<void>;

export function amendHandler(host: RootHost): MessageHandler {
  let judged = 0;
  return (payload) => {
    const checked = checkAmend(payload);
    if (!checked.ok) return host.refuse(`${amendRefusal}${checked.reason}`);
    const { amend } = checked;
    if (amend.answers === undefined) return takeAmend(host, amend, []);
    const fault = findAnswersFault(amend.answers);
    // A value that can't be written would park the run for ever.
    if (fault !== null) return host.refuse(`${amendRefusal}${fault}`);
    judged += 1;
    if (judged > engineLimits.amendsJudgedMax) return host.refuse(amendsTooMany);
    return takeJudged(host, amend, amend.answers);
  };
}

async function takeJudged(
  host: RootHost,
  amend: AmendMessage,
  changed: NonNullable<AmendMessage['answers']>,
): Promise<void> {
  const answers = await judgeAmended(host, changed);
  if (answers !== null) takeAmend(host, amend, answers);
}

/** Takes an instruction: into the state, the record, and every running conversation. */
export function takeAmend(
  host: RootHost,
  { instruction, waive_criteria: waived = [], facts }: AmendMessage,
  answers: readonly AmendedAnswer[],
): void {
  if (host.state.closing) {
    const isRun = workflowInfo().workflowType === workflowTypes.plannerRun;
    return host.refuse(amendTooLate(host.runId, isRun ? host.state.wave : null));
  }
  if (host.state.amendments.length >= engineLimits.amendmentsMax) {
    return host.refuse(
      `${amendRefusal}a run takes ${engineLimits.amendmentsMax} instructions at most.`,
    );
  }
  const fault = unknownCriteria(waived, host.state.criteria);
  // The criteria are unknown until the input was read: `takeUpOpened` checks the ids then.
  if (fault !== null && host.state.opened !== null) return host.refuse(fault);
  takeAmended(host, answers);
  host.state.amendments = [...host.state.amendments, instruction];
  host.record.add({ type: 'instruction', instruction, ...(facts !== undefined && { facts }) });
  const stated = (facts ?? [])
    .map(describeUserFact)
    .filter((sentence) => !instruction.includes(sentence));
  const said = [instruction, ...stated].join('\n');
  host.tell(
    { type: 'instruction', instruction: said, criteria_waived: waived },
    { isPending: true },
  );
  if (waived.length > 0) {
    host.state.waived = [...host.state.waived, ...waived];
    host.state.criteria = waiveCriteria(host.state.criteria, waived);
    host.record.add({ type: 'criteria_waived', criterion_ids: waived });
  }
  host.refresh();
}

/**
 * Checks new answers against the questions in the record.
 *
 * @returns null when one does not fit: then the whole message is refused, with the reasons.
 */
async function judgeAmended(
  host: RootHost,
  answers: NonNullable<AmendMessage['answers']>,
): Promise<readonly AmendedAnswer[] | null> {
  const judged = await untilDone(
    async () => {
      const record_ref = await host.settleRecord();
      const input = { record_ref, answers };
      return judgeAnswers.executeWithOptions({ summary: 'judge changed answers' }, [input]);
    },
    (reason) => host.park(reason),
  );
  if (judged.type === 'taken') return judged.answers;
  for (const reason of judged.reasons) host.refuse(`${amendRefusal}${reason}`);
  return null;
}

/**
 * Applies changed answers. Their askers keep the first answer: the record finds the work that was built on it.
 *
 * @param isChange False for answers that are only confirmed: work goes by them already, and a run that ends ends.
 */
function takeAmended(host: RootHost, answers: readonly AmendedAnswer[], isChange = true): void {
  for (const amended of answers) {
    const amended_at = nowSeconds();
    const { question_id, answer, answer_ref } = amended;
    const before = host.inbox.recentAnswers().find((one) => one.question_id === question_id);
    host.inbox.amend(amended, amended_at);
    host.record.add({ type: 'answer_amended', amended, amended_at });
    const { text = '', delegation_id = null } = before ?? {};
    const changed = { question_id, text, answer, answered_by: 'user', delegation_id };
    host.state.criteria = reopenChanged(host.state.criteria, [question_id]);
    host.tell(newsOfAnswer(changed, answer_ref, isChange), { isPending: isChange });
  }
}

/**
 * Makes a default, an assumption or an answer of a model the user's, when a person sends the same as an answer. The handler
 * returns whether it did, and nothing where there is none to confirm.
 */
export function confirmHandler(host: RootHost): (payload: unknown) => Promise<boolean> | undefined {
  // What can't be confirmed is not tried again for each of many messages.
  const tried = new Set<string>();
  return (payload) => {
    const question_id = findConfirmed(host, payload);
    if (question_id === null || !isRecord(payload)) return undefined;
    if (host.state.closing || tried.has(question_id)) return undefined;
    tried.add(question_id);
    return confirm(host, payload, { question_id, answer: payload['answer'] });
  };
}

/** @returns the question whose answer the payload confirms, or null. */
function findConfirmed(host: RootHost, payload: unknown): string | null {
  const verdict = judgeAnswer(host.inbox.carry(), payload);
  return verdict.type === 'repeated' && verdict.confirms === true ? verdict.question_id : null;
}

async function confirm(
  host: RootHost,
  payload: unknown,
  confirmed: NonNullable<AmendMessage['answers']>[number],
): Promise<boolean> {
  const answers = await judgeAmended(host, [confirmed]);
  if (answers === null || host.state.closing) return false;
  // A person may have changed the answer meanwhile.
  if (findConfirmed(host, payload) === null) return false;
  takeAmended(host, answers, false);
  host.refresh();
  return true;
}
