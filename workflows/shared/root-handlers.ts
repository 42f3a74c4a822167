import { patched, setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import type { SignalDefinition } from '@temporalio/workflow';
import type { AnswerInput, AnswerReceipt } from '../../contracts/question.ts';
import { defaultLimits, engineLimits } from '../../core/limits.ts';
import { checkControl, checkResume } from '../../core/run/check-control.ts';
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
import { EarlyAnswers } from './early-answers.ts';
import { refusal } from './inbox-host.ts';
import type { RootHost } from './root-host.ts';
import { askingRules, describeBudget, usageSoFar } from './root-state.ts';
import { engineSignals } from './run-token.ts';
import { floodSignal, sentSignalName, splitFlood } from './signal-intake.ts';
import { badEscalation } from './superior.ts';
import { amendHandler, confirmHandler } from './take-amend.ts';
import type { MessageHandler } from './take-amend.ts';
import { listWaiting } from '../../core/questions/check-asked-questions.ts';
import { listApprovers } from '../../core/questions/judge-answer.ts';

/** A signal that people send. */
interface PersonSignal {
  readonly signal: SignalDefinition<[unknown]>;
  readonly description: string;
  readonly handle: MessageHandler;
}

/**
 * Registers the messages of a root workflow. None of them can harm the run: Temporal can't refuse a signal, so a bad
 * one is recorded as rejected, with what was expected.
 */
export function registerRootHandlers(host: RootHost): void {
  const confirm = confirmHandler(host);
  const early = new EarlyAnswers(() => host.inbox.carry());
  // A run that has ended asks no more.
  const mustWait = (payload: unknown): boolean =>
    host.state.phase === null && early.mustWait(payload);
  const answer = (payload: unknown, fault: string | null = null): void | Promise<void> => {
    if (fault !== null) return host.refuse(`Signal answer: ${fault}`);
    host.inbox.answer(payload);
    return confirm(payload)?.then(() => undefined);
  };
  const submit = (payload: AnswerInput): AnswerReceipt | Promise<AnswerReceipt> => {
    const receipt = host.inbox.submit(payload);
    const accepted = 'the answer that was taken before is confirmed: it is the user’s now';
    const confirmed = confirm(payload);
    return confirmed?.then((isDone) => (isDone ? { ...receipt, accepted } : receipt)) ?? receipt;
  };
  registerSignals(host, [
    {
      signal: answerSignal,
      description: 'Answers a question: {"question_id":"q1","answer":"…"}',
      handle: (payload) =>
        mustWait(payload) && patched('early-answer')
          ? early.take(payload, (fault) => answer(payload, fault))
          : answer(payload),
    },
    ...controlSignals(host),
    {
      signal: amendSignal,
      description: 'An instruction for the next planning: {"instruction":"…"}',
      handle: amendHandler(host),
    },
  ]);
  setHandler(
    submitAnswerUpdate,
    // Needs no patch: older code refused an early one, and that leaves nothing in a history.
    (payload) =>
      mustWait(payload)
        ? early.take(payload, (fault) => {
            if (fault !== null) throw refusal(fault, null);
            host.inbox.validate(payload);
            return submit(payload);
          })
        : submit(payload),
    {
      validator(payload) {
        if (!mustWait(payload)) host.inbox.validate(payload);
      },
      description:
        'Answers a question and says why when it is refused: {"question_id":"q1","answer":"…"}',
    },
  );
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
