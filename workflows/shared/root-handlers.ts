import { patched, setDefaultSignalHandler, setHandler, workflowInfo } from '@temporalio/workflow';
import type { SignalDefinition } from '@temporalio/workflow';
import type { AmendedAnswer, AmendMessage } from '../../contracts/messages.ts';
import { workflowTypes } from '../../contracts/names.ts';
import { waiveCriteria, reopenChanged } from '../../core/criteria/criteria.ts';
import { defaultLimits, engineLimits } from '../../core/limits.ts';
import { describeUserFact } from '../../core/pool/settle-facts.ts';
import {
  amendRefusal,
  amendTooLate,
  amendsTooMany,
  checkAmend,
  checkControl,
  checkResume,
  findAnswersFault,
  unknownCriteria,
} from '../../core/run/check-control.ts';
import { checkEscalation } from '../../core/run/read-escalations.ts';
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
import { askingRules, describeBudget, usageSoFar } from './root-state.ts';
import { engineSignals } from './run-token.ts';
import { floodSignal, sentSignalName, splitFlood } from './signal-intake.ts';
import { badEscalation } from './superior.ts';
import { newsOfAnswer } from '../../core/run/news.ts';
import { judgeAnswers } from './activities.ts';
import { nowSeconds } from './clock.ts';
import { untilDone } from './failures.ts';
import { listWaiting } from '../../core/questions/check-asked-questions.ts';
import { listApprovers } from '../../core/questions/judge-answer.ts';

/** A signal that people send. */
interface PersonSignal {
  readonly signal: SignalDefinition<[unknown]>;
  readonly description: string;
  /** Returns a promise only if it has to ask an activity. */
  readonly handle: (payload: unknown) => void | Promise<void>;
}

/**
 * Registers the messages of a root workflow. None of them can harm the run: Temporal can't refuse a signal, so a bad
 * one is recorded as rejected, with what was expected.
 */
export function registerRootHandlers(host: RootHost): void {
  registerSignals(host, [
    {
      signal: answerSignal,
      description: 'Answers a question: {"question_id":"q1","answer":"…"}',
      handle: (payload) => host.inbox.answer(payload),
    },
    ...controlSignals(host),
    {
      signal: amendSignal,
      description: 'An instruction for the next planning: {"instruction":"…"}',
      handle: amendHandler(host),
    },
  ]);
  setHandler(submitAnswerUpdate, (payload) => host.inbox.submit(payload), {
    validator: (payload) => host.inbox.validate(payload),
    description:
      'Answers a question and says why when it is refused: {"question_id":"q1","answer":"…"}',
  });
  registerQueries(host);
}

/** The default handler comes last: it takes every signal that came earlier and has no handler yet. */
function registerSignals(host: RootHost, signals: readonly PersonSignal[]): void {
  const { state } = host;
  const counting: readonly PersonSignal[] = signals.map((one) => ({
    ...one,
    handle(payload) {
      state.signals += 1;
      return one.handle(payload);
    },
  }));
  for (const { signal, handle, description } of counting)
    setHandler(signal, handle, { description });
  setHandler(
    escalateSignal,
    (payload) => {
      state.signals += 1;
      const escalation = checkEscalation(payload);
      if (escalation === null) host.refuse(badEscalation);
      else host.escalate(escalation);
    },
    { description: 'From a child: a question or a fault. Not for people.' },
  );
  const refuseUnknown = (name: string): void => {
    state.signals += 1;
    host.refuse(
      engineSignals.includes(name)
        ? `Signal ${name}: only the workflows of a run send it. ${signalsToTry}`
        : `There is no signal "${sentSignalName(name)}". ${signalsToTry}`,
    );
  };
  const handles = new Map(counting.map(({ signal, handle }) => [signal.name, handle]));
  setHandler(
    floodSignal,
    async (flooded, ...args) => {
      const taken = splitFlood(flooded, args).map(({ name, payload }) =>
        (handles.get(name) ?? (() => refuseUnknown(name)))(payload),
      );
      await Promise.all(taken.filter((one) => one !== undefined));
    },
    { description: 'Many signals that arrived together. Not for people.' },
  );
  setDefaultSignalHandler(refuseUnknown);
}

const signalsToTry = 'Try: answer, amend, pause, resume, stop.';

function registerQueries(host: RootHost): void {
  setHandler(
    questionsQuery,
    () => ({
      open: host.inbox.open().map((question) => ({
        ...question,
        ...listWaiting(question, host.state.plan),
        ...listApprovers(question, askingRules(host.state).approvers),
      })),
      answered: host.inbox.recentAnswers(),
      ...host.inbox.rejected(),
    }),
    { description: 'Open, answered and rejected.' },
  );
  setHandler(poolQuery, () => ({ total: host.record.factsTotal(), facts: host.record.facts() }), {
    description: 'Facts of the run, newest last.',
  });
  setHandler(
    budgetQuery,
    () => ({
      usage: usageSoFar(host.state),
      limits: host.state.opened?.limits ?? defaultLimits,
      budget: host.state.budget?.limits ?? null,
      spent: describeBudget(host.state),
    }),
    {
      description:
        'What the run has used, up to the last finished wave and with the design or judgement at work, and its limits.',
    },
  );
}

function controlSignals(host: RootHost): PersonSignal[] {
  const obey =
    (name: string, act: (reason: string) => void) =>
    (payload: unknown): void => {
      const { ok, reason } = checkControl(payload);
      if (ok) act(reason);
      else host.refuse(`Signal ${name}: ${reason}`);
    };
  let pauses = 0;
  return [
    {
      signal: pauseSignal,
      description: 'Calls in flight finish, nothing new starts: {"reason":"…"}',
      handle: obey('pause', (reason) => {
        pauses += 1;
        if (pauses <= engineLimits.pausesMax) return host.control.pause(reason);
        host.refuse(`Signal pause: the run was paused ${engineLimits.pausesMax} times. Try: stop.`);
      }),
    },
    {
      signal: resumeSignal,
      description:
        'Goes on after pause, or after a parked run was mended: {}. A pause stays with {"parked_only":true}',
      handle: (payload) => {
        const { ok, reason, parkedOnly } = checkResume(payload);
        if (!ok) host.refuse(`Signal resume: ${reason}`);
        else if (parkedOnly) host.control.unpark();
        else host.control.resume();
      },
    },
    {
      signal: stopSignal,
      description: 'Cancels calls in flight and ends the run with what there is: {"reason":"…"}',
      handle: obey('stop', (reason) => {
        host.state.stop_reason = reason;
        host.stop();
      }),
    },
  ];
}

function amendHandler(host: RootHost): PersonSignal['handle'] {
  let judged = 0;
  return (payload) => {
    const checked = checkAmend(payload);
    if (!checked.ok) return host.refuse(`${amendRefusal}${checked.reason}`);
    const { amend } = checked;
    if (amend.answers === undefined) return takeAmend(host, amend, []);
    const fault = findAnswersFault(amend.answers);
    // Before 2026-11-26, a value that can't be written parked the run for ever.
    if (fault !== null && patched('answer-faults')) return host.refuse(`${amendRefusal}${fault}`);
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
  if (host.state.closing && patched('told-at-end')) {
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

/** Applies changed answers. Their askers keep the first answer: the record finds the work that was built on it. */
function takeAmended(host: RootHost, answers: readonly AmendedAnswer[]): void {
  for (const amended of answers) {
    const amended_at = nowSeconds();
    const { question_id, answer, answer_ref } = amended;
    const before = host.inbox.recentAnswers().find((one) => one.question_id === question_id);
    host.inbox.amend(amended, amended_at);
    host.record.add({ type: 'answer_amended', amended, amended_at });
    const { text = '', delegation_id = null } = before ?? {};
    const changed = { question_id, text, answer, answered_by: 'user', delegation_id };
    host.state.criteria = reopenChanged(host.state.criteria, [question_id]);
    host.tell(newsOfAnswer(changed, answer_ref, true), { isPending: true });
  }
}
