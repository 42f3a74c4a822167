import { Context } from '@temporalio/activity';
import type { Spending } from '../../contracts/budget.ts';
import type { ModelTurnInput, ModelTurnResult, TurnReply } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { Usage } from '../../contracts/usage.ts';
import { addSpending, spendingOf, fits } from '../../core/budget/spending.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import {
  ModelAborted,
  ModelFailure,
  type ModelProgress,
  type ModelReply,
} from '../ports/model-client.ts';
import { stages } from '../stages/stages.ts';
import {
  addToWork,
  heartbeatEveryMsDefault,
  noteWork,
  startHeartbeat,
  endCancelled,
  readCancelCause,
  assertCurrent,
} from '../attempt/heartbeat.ts';
import {
  payerOf,
  recallAttempts,
  recordResult,
  recordSpent,
  reserveAttempt,
} from './attempt-ledger.ts';
import { usageOfAbort, usageOfAnswer } from './meter-model.ts';
import type { AgentTurnDeps } from './deps.ts';
import { toModelFailure, retryStore } from '../attempt/failures.ts';
import { checkUnchanged, makeReads } from './make-reads.ts';
import { keepsTerms } from './conversation.ts';
import { findSharedPrefix } from './prefix-gate.ts';
import { callKeyOf, prepareTurn, shrinkSchema, type PreparedTurn } from './prepare-turn.ts';
import { assertSmall, settleTurn, settleWithoutReply, type SettledTurn } from './settle-turn.ts';
import type { TurnProgress } from '../../contracts/views.ts';

/** Maximum characters of the reason in a heartbeat, from its beginning: path, reason and cure. */
const waitReasonCharsMax = 400;

const retryBaseMsDefault = 2_000;

/** The things that stay the same within one attempt. */
interface Attempt {
  readonly deps: AgentTurnDeps;
  readonly input: ModelTurnInput;
  readonly context: Context;
  /** Usage of the other attempts, as far as they had reported when this one began. */
  readonly spent: Usage;
  readonly hasMissed: () => boolean;
  readonly onProgress: (progress: ModelProgress) => void;
  /** Called while the reply is there and the store is not. */
  readonly onWait: (error: Error) => void;
}

/** The end of a call that did not fail: how it is stored, and what it used. */
interface CallEnd {
  /** @param store Batch that is stored with the result. */
  readonly settle: (store: ArtifactStore) => Promise<SettledTurn>;
  readonly usage: Usage;
  readonly request_id: string | null;
  readonly model: string;
}

/**
 * One model call.
 *
 * M1. A reply that the ledger holds is returned as it is; the model is not called.
 * M2. The ledger holds the result before the activity returns it.
 * M3. The result's usage is the sum over all attempts of this activity.
 * M4. A requested cancellation is a result with the usage until then; a shutdown is a failed attempt, made again.
 * M5. What was cut off, refused or aborted is neither parsed nor kept in the conversation.
 * M6. A request is sent only when the ledger holds its worst case as a reservation: an attempt that is killed is charged
 *     all of it, and what can't be kept is not bought.
 * M7. An attempt that its worker slept through buys nothing: another one has been made of it.
 * M8. A call whose worst case, with what earlier attempts took or reserved, passes its allowance is not made.
 * M9. An attempt that comes late takes away nothing that another one has recorded.
 * M10. A schema that the provider refuses is asked for in the next smaller form at once: a refusal is not billed.
 * M11. Calls that change nothing are made when the ledger holds the reply: a repeat makes them again, and buys nothing.
 * M12. A reply that a crashed attempt at the same delegation got at this point is taken over, and costs nothing.
 * @param termsAt Node with the terms of the call; null when the call named them, so that its own node keeps them.
 */
export async function runModelTurn(
  deps: AgentTurnDeps,
  input: ModelTurnInput,
  termsAt: Ref | null,
): Promise<ModelTurnResult> {
  const context = Context.current();
  let progress: TurnProgress = {
    agent_id: input.agent_id,
    ...(input.delegation_id !== undefined && { delegation_id: input.delegation_id }),
    stage: input.stage,
    output_tokens: 0,
    last_words: '',
  };
  const { agent_id, delegation_id } = input;
  noteWork(context, { kind: 'model_call', agent_id, delegation_id });
  const everyMs = deps.heartbeatEveryMs ?? heartbeatEveryMsDefault;
  const heartbeat = startHeartbeat(context, everyMs, () => progress);
  try {
    const { result, spent } = await recallAttempts(deps.ledger, context.info, input);
    const onCall = (tool: string): void => {
      progress = { ...progress, last_words: cutText(`${tool} …`, waitReasonCharsMax) };
    };
    const reading = { deps, input, context, onCall };
    const lookAt = async (reply: ModelTurnResult): Promise<ModelTurnResult> =>
      checkUnchanged(reading, await makeReads(reading, noteEnd(context, reply)));
    if (result !== null) return await lookAt(result);
    const prepared = await prepareTurn(deps, input, callKeyOf(context.info, input), termsAt);
    progress = { ...progress, turn: prepared.turn };
    addToWork(context, { turn: prepared.turn, model: prepared.request.model });
    const onProgress = ({ outputTokens, lastWords, readable }: ModelProgress): void => {
      progress = {
        ...progress,
        output_tokens: outputTokens,
        last_words: lastWords,
        ...(readable !== undefined && { text: readable.text, text_chars: readable.chars }),
      };
    };
    const onWait = ({ message }: Error): void => {
      progress = { ...progress, last_words: cutText(message, waitReasonCharsMax) };
    };
    const { hasMissed } = heartbeat;
    const attempt = { deps, input, context, spent, hasMissed, onProgress, onWait };
    return await lookAt(await finishTurn(attempt, prepared));
  } finally {
    heartbeat.stop();
  }
}

function noteEnd(context: Context, result: ModelTurnResult): ModelTurnResult {
  addToWork(context, { usage: result.usage });
  return result;
}

async function finishTurn(attempt: Attempt, prepared: PreparedTurn): Promise<ModelTurnResult> {
  const { deps, context, spent } = attempt;
  const end = await callModel(attempt, prepared);
  if (end.usage.calls > 0)
    context.log.info('the model was called', { model: end.model, ...end.usage });
  const patience = {
    baseMs: (deps.retryBaseMs ?? retryBaseMsDefault) / 8,
    signal: context.cancellationSignal,
    onWait: attempt.onWait,
  };
  const batch = deps.store.openBatch();
  const { head, reply } = await retryStore(patience, () => end.settle(batch));
  const result: ModelTurnResult = {
    head,
    reply,
    usage: addUsage(spent, end.usage),
    request_id: end.request_id,
    model: end.model,
    ...((await keepsTerms(batch, head, prepared.waiting.terms)) && { keeps_terms: true }),
  };
  assertSmall(result);
  await retryStore(patience, () => recordResult(deps.ledger, attempt, result, end.usage, batch));
  return result;
}

async function callModel(attempt: Attempt, prepared: PreparedTurn): Promise<CallEnd> {
  const { deps, input, context } = attempt;
  const cause = readCancelCause(context);
  if (cause !== null) return endTakenBack(attempt, prepared, noUsage);
  // Measuring a request takes as long as sending it, so it is done once.
  const worst = deps.computeWorst(prepared.request);
  const needs = findExcess(attempt, spendingOf(worst));
  if (needs !== null) return endWithoutReply(prepared, { type: 'unaffordable', needs });
  try {
    const reply = await complete(attempt, prepared, worst);
    return {
      settle: (store) => settleTurn({ ...deps, store }, prepared, input, reply),
      usage: usageOfAnswer(deps, prepared.request, reply),
      request_id: reply.requestId,
      model: reply.model,
    };
  } catch (error) {
    if (error instanceof ModelAborted) {
      const usage = usageOfAbort(deps, prepared.request, error);
      return endTakenBack(attempt, prepared, usage, error.lastWords);
    }
    if (!(error instanceof ModelFailure)) throw error;
    const smaller = error.refusesSchema ? shrinkSchema(prepared) : null;
    if (smaller === null) return endFailed(attempt, prepared, error);
    context.log.warn('the schema was refused; the next smaller form is tried', {
      form: smaller.asked.form,
    });
    return callModel(attempt, smaller);
  }
}

/** @returns the worst case of the call, including its earlier attempts, when that exceeds the allowance. */
function findExcess({ input, spent }: Attempt, worst: Spending): Spending | null {
  const { allowance } = input;
  if (allowance === null) return null;
  return fits(addSpending(spendingOf(spent), worst), allowance) ? null : worst;
}

/** @param usage of the call. If undefined, it was not made. */
function endWithoutReply(
  prepared: PreparedTurn,
  reply: TurnReply,
  usage = noUsage,
  request_id: string | null = null,
): CallEnd {
  return {
    settle: (store) => settleWithoutReply(store, prepared, reply),
    usage,
    request_id,
    model: prepared.request.model,
  };
}

/**
 * Makes the call itself, after the first one of its wave. It may have waited, so it checks whether the work is still
 * its own.
 */
async function complete(
  attempt: Attempt,
  { request }: PreparedTurn,
  worst: Usage,
): Promise<ModelReply> {
  const { deps, input, context } = attempt;
  const signal = context.cancellationSignal;
  const passage = await deps.prefixGate.enter(
    findSharedPrefix(request, stages[input.stage].reply.shape),
    signal,
  );
  try {
    await reserveAttempt(deps.ledger, attempt, worst);
    await assertCurrent(context, attempt.hasMissed).catch(async (error: unknown) => {
      await recordSpent(deps.ledger, attempt, noUsage);
      throw error;
    });
    return await deps.model.complete(request, {
      signal,
      payer: payerOf(context.info, input, worst),
      onProgress: (progress) => {
        passage.begun();
        attempt.onProgress(progress);
      },
    });
  } finally {
    passage.ended();
  }
}

/**
 * @param words the last of what had arrived. Only who asked to stop hears of it; others make the call again.
 * @throws the retryable failure or the cancellation that ends an attempt that was not asked to stop.
 */
async function endTakenBack(
  attempt: Attempt,
  prepared: PreparedTurn,
  usage: Usage,
  words = '',
): Promise<CallEnd> {
  const { deps, context } = attempt;
  const cause = readCancelCause(context) ?? 'shutdown';
  if (cause !== 'requested') {
    await recordSpent(deps.ledger, attempt, usage);
    return endCancelled(context, cause);
  }
  const end = endWithoutReply(prepared, { type: 'aborted' }, usage);
  if (words === '') return end;
  return {
    ...end,
    settle: async (store) => {
      const words_ref = await store.put(words);
      return settleWithoutReply(store, prepared, { type: 'aborted', words_ref });
    },
  };
}

/** @throws the failure, unless a turn has a reply for it. */
async function endFailed(
  attempt: Attempt,
  prepared: PreparedTurn,
  error: ModelFailure,
): Promise<CallEnd> {
  const { deps, context } = attempt;
  const usage = error.details.usage ?? noUsage;
  // A call that fails while it is being cancelled was cancelled.
  if (readCancelCause(context) !== null) return endTakenBack(attempt, prepared, usage);
  if (error.type === 'ModelContextExceeded') {
    const { request_id } = error.details;
    return endWithoutReply(prepared, { type: 'context_exceeded' }, usage, request_id);
  }
  const spent = addUsage(attempt.spent, usage);
  await recordSpent(deps.ledger, attempt, usage);
  const baseMs = deps.retryBaseMs ?? retryBaseMsDefault;
  const promptRef = prepared.waiting.packet_ref;
  throw toModelFailure(error, context.info.attempt, baseMs, { spent, promptRef });
}
