import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { VerificationOutcome, VerificationResults } from '../../contracts/verification.ts';
import { listCommands } from '../../core/effects/step-effect.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import { chooseVerifier } from '../../core/verification/choose-verifier.ts';
import {
  concludeVerification,
  failuresOf,
  feedbackOf,
  mustAskUser,
  noteAnswer,
  noteAttempt,
  noteGivenUp,
  noteOnTeam,
  noteResult,
  noteUse,
} from '../../core/verification/step-verification.ts';
import {
  describeAbandoned,
  verificationQuestion,
  verificationTextQuestion,
} from '../../core/verification/verification-question.ts';
import type { CarriedWork, ExecutionContext } from '../execution/execution-context.ts';
import { reportVerified } from '../execution/session-keeper.ts';
import { describeFailures, storeText } from '../shared/activities.ts';
import { nowSeconds } from '../shared/clock.ts';
import { execute } from './execute.ts';
import { beginVerifying, setView, show, type Verifying } from './verifying.ts';
import { judgeOutput } from './judge-output.ts';
import type { Judged } from './judge-output.ts';
import { shareSuperior } from '../shared/share-superior.ts';
import { askSuperior } from '../shared/superior.ts';
import { guardMended, pickRewritten, replaceInThread } from '../team/mend-answer.ts';
import type { MendedAnswer } from '../team/mend-answer.ts';
import { callUntilDone, stopWhenCancelled } from '../shared/failures.ts';
import type { ExecutorOutline } from '../../contracts/delegation.ts';

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
    if (end !== null) return settleThread(v, end);
  }
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
  const terms = feedback === undefined ? undefined : state.team;
  const order = { ...context.order, ...pickRewritten(terms) };
  const { carryOver } = context;
  const outcome = await execute(executor, {
    ...context,
    order,
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
      v.earlier = { effects: end.effects, escalations: end.escalations, why: end.why };
      if (end.team !== undefined) v.state = { ...v.state, team: end.team };
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
  if (hasLeft) return { outcome, hasLeft };
  v.state = noteAttempt(v.state, outcome);
  if (terms === undefined) return { outcome, hasLeft };
  return { outcome: await guard(v, { order, outcome, terms }), hasLeft };
}

/** Has the functions of a team check an answer that its leader mended alone. */
async function guard(v: Verifying, mended: MendedAnswer): Promise<DelegationOutcome> {
  const { superior, budget } = v.context;
  const shared = shareSuperior(superior, mended.order, v.earlier.escalations);
  const checked = await guardMended(mended, {
    budget,
    superior: shared.forMember((question) =>
      show(v, question === '' ? 'running' : 'waiting', question),
    ),
    note: (text) => void (v.state = noteOnTeam(v.state, text)),
  });
  v.earlier = { ...v.earlier, escalations: shared.escalations() };
  return checked;
}

/** Puts the verified answer of a team into its thread, in place of one that failed. */
async function settleThread(v: Verifying, outcome: DelegationOutcome): Promise<DelegationOutcome> {
  const { team, attempts, results_refs } = v.state;
  const isVerified = outcome.verification?.status === 'verified';
  const isFirst = isVerified ? results_refs.length === 1 : attempts === 0;
  if (team === undefined || isFirst) return outcome;
  await replaceInThread({ order: v.context.order, outcome, terms: team }, isVerified, (text) => {
    v.state = noteOnTeam(v.state, text);
  });
  return { ...outcome, executor: v.state.executor ?? outcome.executor };
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
  if (asksWhenGivenUp(v, outcome)) return followGivenUp(v, outcome);
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

/** Guidance helps a doer that could not do its task, and not one whose budget is spent. */
function asksWhenGivenUp({ context, earlier }: Verifying, { status }: DelegationOutcome): boolean {
  const isAsked = context.order.asks_when_failed === true && status === 'failed';
  return isAsked && earlier.why !== 'budget_spent';
}

/** Asks what becomes of a task that its doer gave up. @returns null when its doer begins anew. */
async function followGivenUp(
  v: Verifying,
  outcome: DelegationOutcome,
): Promise<DelegationOutcome | null> {
  const { delegation_id: task_id, reason } = outcome;
  const results: VerificationResults = {
    task_id,
    timestamp: nowSeconds(),
    result: 'fail',
    missing_evidence: [cutText(reason, reasonCharsMax)],
  };
  const answer = await stopWhenCancelled(async () => {
    const { ref } = await storeText({ text: JSON.stringify(results) });
    v.state = noteGivenUp(v.state, ref);
    return askUser(v);
  });
  if (answer === null) return conclude(v, outcome, stoppedEnd);
  if (answer.choice === 'abandon') {
    const end = describeAbandoned(v.state.attempts, answer.told);
    return conclude(v, outcome, { ...end, reason: `${reason} ${end.reason}` });
  }
  v.state = noteAnswer(v.state, answer.choice, answer.text_ref);
  return null;
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

/** Characters of the reason that the next attempt reads. */
const reasonCharsMax = 2_000;

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
