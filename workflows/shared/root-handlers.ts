import { setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import type { CriterionState } from '../../contracts/criterion.ts';
import type { AmendedAnswer, AmendMessage } from '../../contracts/messages.ts';
import { waiveCriteria } from '../../core/criteria/criteria.ts';
import { defaultLimits, engineLimits } from '../../core/limits.ts';
import { describeUserFact } from '../../core/pool/settle-facts.ts';
import { listWaiting } from '../../core/questions/join-question.ts';
import { checkAmend, checkControl } from '../../core/run/check-control.ts';
import { checkEscalation } from '../../core/run/read-messages.ts';
import { listNames } from '../../core/text/list-names.ts';
import { judgeAmended, takeAmended } from './amend-answers.ts';
import {
  amendSignal,
  answerSignal,
  budgetQuery,
  escalateSignal,
  pauseSignal,
  poolQuery,
  questionsQuery,
  resumeSignal,
  stopSignal,
  submitAnswerUpdate,
} from './messages.ts';
import type { RootHost } from './root-host.ts';
import { describeBudget } from './root-state.ts';
import { sentSignalName } from './signal-names.ts';
import { badEscalation } from './superior.ts';

/**
 * Registers the messages of a root workflow. None of them can harm the run: Temporal can't refuse a signal, so a bad
 * one is recorded as rejected, with what was expected.
 */
export function registerRootHandlers(host: RootHost): void {
  registerAnswers(host);
  registerControl(host);
  registerAmend(host);
  setHandler(
    escalateSignal,
    (payload) => {
      const escalation = checkEscalation(payload);
      if (escalation === null) host.refuse(badEscalation);
      else host.escalate(escalation);
    },
    { description: 'From a child: a question or a fault. Not for people.' },
  );
  setDefaultSignalHandler((name) =>
    host.refuse(
      `There is no signal "${sentSignalName(name)}". Try: answer, amend, pause, resume, stop.`,
    ),
  );
  setHandler(poolQuery, () => ({ total: host.record.factsTotal(), facts: host.record.facts() }), {
    description: 'Facts of the run, newest last.',
  });
  setHandler(
    budgetQuery,
    () => ({
      usage: host.state.usage,
      limits: host.state.opened?.limits ?? defaultLimits,
      budget: host.state.budget?.limits ?? null,
      spent: describeBudget(host.state),
    }),
    {
      description: 'What the run has used, up to the last finished wave, and its limits.',
    },
  );
}

function registerAnswers(host: RootHost): void {
  setHandler(answerSignal, (payload) => host.inbox.answer(payload), {
    description: 'Answers a question: {"question_id":"q1","answer":"…"}',
  });
  setHandler(submitAnswerUpdate, (payload) => host.inbox.submit(payload), {
    validator: (payload) => host.inbox.validate(payload),
    description:
      'Answers a question and says why when it is refused: {"question_id":"q1","answer":"…"}',
  });
  setHandler(
    questionsQuery,
    () => ({
      open: host.inbox.open().map((question) => ({
        ...question,
        ...listWaiting(question, host.state.plan),
      })),
      answered: host.inbox.recentAnswers(),
      ...host.inbox.rejected(),
    }),
    { description: 'Open, answered and rejected.' },
  );
}

function registerControl(host: RootHost): void {
  const obey =
    (name: string, act: (reason: string) => void) =>
    (payload: unknown): void => {
      const { ok, reason } = checkControl(payload);
      if (ok) act(reason);
      else host.refuse(`Signal ${name}: ${reason}`);
    };
  let pauses = 0;
  setHandler(
    pauseSignal,
    obey('pause', (reason) => {
      pauses += 1;
      if (pauses <= engineLimits.pausesMax) return host.control.pause(reason);
      host.refuse(`Signal pause: the run was paused ${engineLimits.pausesMax} times. Try: stop.`);
    }),
    { description: 'Calls in flight finish, nothing new starts: {"reason":"…"}' },
  );
  setHandler(
    resumeSignal,
    obey('resume', () => host.control.resume()),
    { description: 'Goes on after pause, or after a parked run was mended: {}' },
  );
  setHandler(
    stopSignal,
    obey('stop', (reason) => {
      host.state.stop_reason = reason;
      host.stop();
    }),
    { description: 'Cancels calls in flight and ends the run with what there is: {"reason":"…"}' },
  );
}

function registerAmend(host: RootHost): void {
  let judged = 0;
  setHandler(
    amendSignal,
    async (payload) => {
      const checked = checkAmend(payload);
      if (!checked.ok) return host.refuse(`Signal amend: ${checked.reason}`);
      const { amend } = checked;
      if (amend.answers !== undefined) judged += 1;
      if (judged > engineLimits.amendsJudgedMax) return host.refuse(tooManyJudged);
      const answers = amend.answers === undefined ? [] : await judgeAmended(host, amend.answers);
      if (answers !== null) takeAmend(host, amend, answers);
    },
    { description: 'An instruction for the next planning: {"instruction":"…"}' },
  );
}

const tooManyJudged = `Signal amend: a run checks changed answers ${engineLimits.amendsJudgedMax} times at most. Try: an instruction without answers`;

function takeAmend(
  host: RootHost,
  { instruction, waive_criteria: waived = [], facts }: AmendMessage,
  answers: readonly AmendedAnswer[],
): void {
  if (host.state.amendments.length >= engineLimits.amendmentsMax) {
    return host.refuse(
      `Signal amend: a run takes ${engineLimits.amendmentsMax} instructions at most.`,
    );
  }
  // The criteria are unknown until the input was read.
  const unknown = host.state.opened === null ? [] : findUnknown(waived, host.state.criteria);
  if (unknown.length > 0) return host.refuse(unknownCriteria(unknown, host.state.criteria));
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

function findUnknown(ids: readonly string[], criteria: readonly CriterionState[]): string[] {
  const known = new Set(criteria.map(({ criterion_id }) => criterion_id));
  return ids.filter((id) => !known.has(id));
}

function unknownCriteria(ids: readonly string[], criteria: readonly CriterionState[]): string {
  const known = listNames(criteria.map(({ criterion_id }) => criterion_id));
  return `Signal amend: there is no criterion ${listNames(ids)}. Criteria are: ${known}.`;
}
