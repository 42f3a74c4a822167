import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { VerificationOutcome } from '../../contracts/verification.ts';
import type { VerificationView } from '../../contracts/views.ts';
import { listCommands } from '../../core/effects/step-effect.ts';
import { engineLimits } from '../../core/limits.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import { chooseVerifier } from '../../core/verification/choose-verifier.ts';
import {
  concludeVerification,
  failuresOf,
  feedbackOf,
  mustAskUser,
  noteAnswer,
  noteResult,
  noteUse,
  openVerification,
  verificationQuestion,
  verificationTextQuestion,
  describeAbandoned,
} from '../../core/verification/step-verification.ts';
import type { VerificationState } from '../../core/verification/step-verification.ts';
import type {
  CarriedWork,
  DelegationEnd,
  ExecutionContext,
} from '../execution/execution-context.ts';
import { reportVerified } from '../execution/session-keeper.ts';
import { describeFailures, storeText } from '../shared/activities.ts';
import { execute } from './execute.ts';
import { judgeOutput } from './judge-output.ts';
import type { Judged } from './judge-output.ts';
import type { JudgingView } from './judge-together.ts';
import { askSuperior } from '../shared/superior.ts';
import { callUntilDone, stopWhenCancelled } from '../shared/failures.ts';
import type { ExecutorOutline } from '../../contracts/delegation.ts';

/** A delegation whose output is verified. */
interface Verifying {
  readonly executor: ExecutorOutline;
  readonly context: ExecutionContext;
  state: VerificationState;
  /** Changes that its attempts tried, and escalations. */
  earlier: Pick<DelegationEnd, 'effects' | 'escalations'>;
  view: VerificationView;
}

/**
 * Has a delegation done and its output verified (seed 003, "Verification Workflow"). A doer whose output fails begins anew
 * with the results; after too many failures the user decides. Without an order for a verification it is only done.
 */
export async function executeVerified(
  executor: ExecutorOutline,
  context: ExecutionContext,
): Promise<DelegationOutcome> {
  const order = context.order.delegation.verification;
  if (order === undefined) return execute(executor, context);
  const v = beginVerifying(executor, context, order.verified_by);
  let from = context.carried;
  for (;;) {
    // One attempt after the other.
    // oxlint-disable-next-line no-await-in-loop
    const worked = await attempt(v, from);
    from = null;
    if (worked.hasLeft) return worked.outcome;
    // oxlint-disable-next-line no-await-in-loop
    const end = await verifyOutcome(v, worked.outcome);
    if (end !== null) return end;
  }
}

function beginVerifying(
  executor: ExecutorOutline,
  context: ExecutionContext,
  verified_by: string,
): Verifying {
  const { carried } = context;
  const state = carried?.verification ?? openVerification();
  return {
    executor,
    // Notes of one attempt are there for the next.
    context: { ...context, session: context.session ?? { state: null } },
    state,
    earlier: { effects: carried?.effects ?? [], escalations: carried?.escalations ?? 0 },
    view: {
      verified_by,
      state: 'working',
      attempt: state.failures + 1,
      attempts_max: engineLimits.verificationsMax,
    },
  };
}

/** `hasLeft`: the rest was done, and verified, in another history. */
interface Attempt {
  readonly outcome: DelegationOutcome;
  readonly hasLeft: boolean;
}

async function attempt(v: Verifying, from: CarriedWork | null): Promise<Attempt> {
  const { context, state } = v;
  const feedback = feedbackOf(state);
  let hasLeft = false;
  setView(v, 'working');
  // Whoever wrote the output of a triad or leads a team mends it alone.
  const executor: ExecutorOutline = feedback === undefined ? v.executor : { kind: 'agent' };
  const { carryOver } = context;
  const outcome = await execute(executor, {
    ...context,
    carried: from,
    ...(feedback !== undefined && { redo: { ...v.earlier, feedback } }),
    onStatus: (view) =>
      context.onStatus({
        ...view,
        turn: state.turns + view.turn,
        usage: addUsage(state.usage, view.usage),
        verification: v.view,
      }),
    onEnd(end) {
      v.earlier = { effects: end.effects, escalations: end.escalations };
      context.onEnd?.(end);
    },
    carryOver: carryOver && {
      isDue: () => carryOver.isDue(),
      take(rest) {
        hasLeft = true;
        return carryOver.take({ ...rest, verification: v.state });
      },
    },
  });
  if (!hasLeft) v.state = noteUse(v.state, outcome);
  return { outcome, hasLeft };
}

/** @returns the outcome of the delegation; null when its doer begins anew. */
async function verifyOutcome(
  v: Verifying,
  outcome: DelegationOutcome,
): Promise<DelegationOutcome | null> {
  const { context } = v;
  const chosen = chooseVerifier(context.order.delegation, outcome);
  const { output_ref, status, reason } = outcome;
  v.view = { ...v.view, verified_by: chosen.agent_id };
  if (status !== 'completed' || output_ref === null) {
    return conclude(v, outcome, { status: 'unverified', reason, ended: status });
  }
  if (!chosen.ok) return conclude(v, outcome, { status: 'unverified', reason: chosen.reason });
  for (;;) {
    setView(v, 'verifying');
    show(v, 'running', '');
    // oxlint-disable-next-line no-await-in-loop
    const judged = await judgeOutput(
      {
        outcome,
        commands: listCommands(v.earlier.effects),
        output_ref,
        verified_by: chosen.agent_id,
        state: v.state,
        onStatus: (work) => show(v, 'running', work.waiting_for, work),
      },
      context,
    );
    v.state = noteUse(v.state, judged.use);
    // oxlint-disable-next-line no-await-in-loop
    const next = await followJudged(v, { outcome, output_ref, judged });
    if (next === 'redo') return null;
    if (next !== 'judge') return next;
  }
}

/** @returns the outcome of the delegation; `redo` when its doer begins anew, `judge` when the same output is judged again. */
async function followJudged(
  v: Verifying,
  found: {
    readonly outcome: DelegationOutcome;
    readonly output_ref: Ref;
    readonly judged: Judged;
  },
): Promise<DelegationOutcome | 'redo' | 'judge'> {
  const { context } = v;
  const { outcome, output_ref, judged } = found;
  if (judged.type === 'stopped') return conclude(v, outcome, stoppedEnd);
  if (judged.type === 'denied') {
    return conclude(v, outcome, { status: 'unverified', reason: judged.reason });
  }
  v.state = noteResult(v.state, judged.result, { ...judged, output_ref });
  if (judged.result === 'pass') {
    await reportVerified(context.order, outcome.notes, context.superior);
    return conclude(v, outcome, { status: 'verified', reason: '' });
  }
  if (judged.hasVerdict && !mustAskUser(v.state)) return 'redo';
  const answer = await stopWhenCancelled(() => askUser(v));
  if (answer === null) return conclude(v, outcome, stoppedEnd);
  if (answer.choice === 'abandon')
    return conclude(v, outcome, describeAbandoned(v.state.attempts, answer.told));
  v.state = noteAnswer(v.state, answer.choice, answer.text_ref);
  // A verifier without a verdict says nothing against the output, so guidance is for the verifier.
  return !judged.hasVerdict && answer.choice === 'guide' ? 'judge' : 'redo';
}

type End = Pick<VerificationOutcome, 'status'> & {
  readonly reason: string;
  readonly ended?: DelegationOutcome['status'];
};

const stoppedEnd: End = {
  status: 'unverified',
  reason: 'stopped while it was verified',
  ended: 'stopped',
};

function conclude(v: Verifying, outcome: DelegationOutcome, end: End): DelegationOutcome {
  const concluded = concludeVerification(outcome, v.state, {
    ...end,
    verified_by: v.view.verified_by,
  });
  setView(v, end.status === 'verified' ? 'verified' : 'unverified');
  show(v, concluded.status, concluded.reason);
  return concluded;
}

function setView(v: Verifying, state: VerificationView['state']): void {
  const ended = state === 'verified' || state === 'unverified';
  v.view = { ...v.view, state, ...(!ended && { attempt: v.state.failures + 1 }) };
}

/** @param work Work of a triad that judges, whose phases are workflows. */
function show(
  { context, state, view }: Verifying,
  status: DelegationOutcome['status'] | 'running' | 'waiting',
  waiting_for: string,
  { turn, usage, phases_at_work }: JudgingView = { turn: 0, usage: noUsage, waiting_for },
): void {
  const { delegation_id, agent_id, title } = context.order.delegation;
  context.onStatus({
    delegation_id,
    agent_id,
    title,
    state: status === 'running' && waiting_for !== '' ? 'waiting' : status,
    turn: state.turns + turn,
    waiting_for,
    usage: addUsage(state.usage, usage),
    ...(phases_at_work !== undefined && { phases_at_work }),
    executor: { kind: 'agent' },
    verification: view,
  });
}

type Chosen =
  | { readonly choice: 'abandon'; readonly told?: DeliveredAnswer }
  | { readonly choice: 'modify' | 'guide'; readonly text_ref: Ref };

/** Asks what becomes of a task that failed too often. Throws when the delegation is cancelled while it waits. */
async function askUser(v: Verifying): Promise<Chosen> {
  const { plan_ref, delegation } = v.context.order;
  const { delegation_id } = delegation;
  const { text } = await callUntilDone(
    v.context.superior,
    describeFailures,
    `failed verifications of ${delegation_id}`,
    { plan_ref, delegation_id, verified_by: v.view.verified_by, ...failuresOf(v.state) },
  );
  const answer = await ask(v, verificationQuestion(text));
  if (answer === undefined || answer.loop) return { choice: 'abandon' };
  const choice = answer.answer;
  if (choice !== 'modify' && choice !== 'guide') return { choice: 'abandon', told: answer };
  const told = await ask(v, verificationTextQuestion(choice, delegation));
  if (told === undefined || told.loop) return { choice: 'abandon' };
  const text_ref = told.answer_ref ?? (await storeText({ text: told.answer ?? '' })).ref;
  return { choice, text_ref };
}

async function ask(v: Verifying, question: AskedQuestion): Promise<DeliveredAnswer | undefined> {
  const { context, view } = v;
  v.state = { ...v.state, questions: v.state.questions + 1 };
  show(v, 'waiting', question.text);
  const [answer] = await askSuperior(context.order, context, {
    escalation_id: `${context.order.delegation.delegation_id}#v${v.state.questions}`,
    agent_id: view.verified_by,
    kind: 'verification',
    questions: [question],
  });
  show(v, 'running', '');
  return answer;
}
