import type { EffectOrder } from '../../contracts/effect.ts';
import {
  findEarlierBeginning,
  openEffect,
  reopenEffect,
  stepEffect,
  type EffectEvent,
  type EffectState,
  type EffectStep,
  type EffectVerdict,
} from '../../core/effects/step-effect.ts';
import { StoreUnavailable } from '../ports/artifact-store.ts';
import { damagedEntry, type EffectLedger } from '../ports/effect-ledger.ts';
import { describeFailure, runWithin, ToolTimeout } from './call-tool.ts';
import { hashBytes } from '../text/bytes.ts';
import type { ActContext, ActingTool, ToolContext } from './tool.ts';

/** The state in which an effect ended for now. */
export type EffectEnd = Extract<
  EffectState,
  { type: 'confirmed' | 'failed' | 'skipped' | 'unverified' }
>;

/** Call of a tool that acts, with everything its effect needs. */
export interface EffectCall {
  readonly ledger: EffectLedger;
  readonly key: string;
  /** The execution of the workflow that calls. */
  readonly runId: string;
  /** Defined in EffectOrder. */
  readonly executions?: readonly string[];
  readonly tool: ActingTool;
  /** Input as parsed by the tool's schema. */
  readonly input: unknown;
  readonly resolution: EffectOrder['resolution'];
  readonly context: ToolContext;
  readonly timeoutMs: number;
  /** Defined in ActContext. */
  readonly onTail?: ActContext['onTail'];
  /**
   * Must be called before the tool acts, and again right before its change. Throws when the server may have given the
   * call to another worker.
   */
  readonly assertCurrent: () => Promise<void>;
}

/** Hashes what makes two calls one effect: who calls, which of its calls it is, the tool, and the arguments. */
export function effectKeyOf(parts: {
  readonly workflow_id: string;
  readonly chain_id: string;
  readonly effect_id: string;
  readonly tool: string;
  readonly arguments_ref: string;
}): string {
  const { workflow_id, chain_id, effect_id, tool, arguments_ref } = parts;
  return hashBytes(JSON.stringify([workflow_id, chain_id, effect_id, tool, arguments_ref]));
}

/** The state of an effect by the ledger, and the version that says so. */
export interface RecalledEffect {
  readonly step: EffectStep;
  readonly version: number;
}

/** Reads the state of an effect before this attempt does anything. @throws StoreUnavailable */
export async function recallEffect(ledger: EffectLedger, key: string): Promise<RecalledEffect> {
  const { state, version } = await ledger.find(key);
  if (state !== damagedEntry) return { step: openEffect(state), version };
  const step = openEffect({
    type: 'unverified',
    round: 1,
    found: 'The entry of the effect in the ledger is damaged, so it may have taken place.',
  });
  return { step, version };
}

/**
 * Checks a confirmation from before a reset once more. The new state is written when the effect goes on from it, or not at
 * all if there is nothing left to do: then the next attempt checks again.
 */
export async function recheckEffect(
  call: EffectCall,
  recalled: RecalledEffect,
): Promise<RecalledEffect> {
  const { state } = recalled.step;
  const beginning = findEarlierBeginning(state, [call.runId, ...(call.executions ?? [])]);
  if (beginning === null) return recalled;
  // To check a command is to take back what it did.
  const isCommand = state.type === 'confirmed' && state.receipt?.command !== undefined;
  const verdict: EffectVerdict = isCommand
    ? { type: 'unknown', found: 'The command ran before this work was reset to an earlier step.' }
    : await check(call, beginning.before);
  return { ...recalled, step: reopenEffect(beginning, verdict) };
}

/**
 * Advances an effect as far as possible without the user: `core/effects` decides, the ledger remembers, the tool acts.
 *
 * @param from result of `recallEffect`.
 * @throws StoreUnavailable from the ledger, and from a tool that has not acted yet: the activity is repeated.
 * @throws the reason with which `context.signal` was aborted.
 */
export async function runEffect(call: EffectCall, from: RecalledEffect): Promise<EffectEnd> {
  let { step, version } = from;
  for (;;) {
    const event = await nextEvent(call, step);
    if (event === null) return endOf(step.state);
    const next = stepEffect(step.state, event);
    // The state is written before the next action: after a crash the ledger says at least as much as has happened.
    if (next.state === step.state) step = next;
    else if (await call.ledger.put(call.key, next.state, version)) {
      step = next;
      version += 1;
    } else {
      // Another attempt has advanced the effect. An attempt that may still continue does so from there.
      await call.assertCurrent();
      ({ step, version } = await recallEffect(call.ledger, call.key));
    }
  }
}

/** Carries a command out. @returns its event, or null when there is nothing more to do. */
async function nextEvent(call: EffectCall, step: EffectStep): Promise<EffectEvent | null> {
  switch (step.command) {
    case 'begin':
      return begin(call);
    case 'act':
      return act(call, beforeOf(step.state));
    case 'check':
      return { type: 'checked', verdict: await check(call, beforeOf(step.state)) };
    case 'ask': {
      const { resolution } = call;
      const isAsked = step.state.type === 'unverified' && step.state.round === resolution?.round;
      return isAsked && resolution !== null ? { type: 'resolved', ...resolution } : null;
    }
    case 'report':
      return null;
  }
}

async function begin({ tool, input, context, timeoutMs, runId }: EffectCall): Promise<EffectEvent> {
  try {
    const before = await runWithin((inner) => tool.look(input, inner), context, timeoutMs);
    return { type: 'begun', before, run_id: runId };
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    context.signal.throwIfAborted();
    return { type: 'threw', reason: describeFailure(tool, error), verdict: { type: 'absent' } };
  }
}

async function act(call: EffectCall, before: string): Promise<EffectEvent> {
  const { tool, input, context, timeoutMs } = call;
  await call.assertCurrent();
  try {
    const receipt = await runWithin(
      (inner) =>
        tool.act(input, { ...inner, before, mayStill: askerOf(call, inner), onTail: call.onTail }),
      context,
      timeoutMs,
    );
    return { type: 'acted', receipt };
  } catch (error) {
    context.signal.throwIfAborted();
    // The worker that has the call by now finds out the result.
    await call.assertCurrent();
    const reason = describeFailure(tool, error);
    // It may still be working: the visible state proves nothing.
    if (error instanceof ToolTimeout) {
      return { type: 'threw', reason, verdict: { type: 'unknown', found: reason } };
    }
    return { type: 'threw', reason, verdict: await check(call, before) };
  }
}

async function check(call: EffectCall, before: string): Promise<EffectVerdict> {
  const { tool, input, context, timeoutMs } = call;
  try {
    return await runWithin(
      (inner) => tool.check(input, before, { ...inner, mayStill: askerOf(call, inner) }),
      context,
      timeoutMs,
    );
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    context.signal.throwIfAborted();
    // The worker that has the call by now finds out the result.
    await call.assertCurrent();
    return { type: 'unknown', found: describeFailure(tool, error) };
  }
}

/** Returns the `mayStill` of a tool's context. */
function askerOf({ assertCurrent }: EffectCall, { signal }: ToolContext): () => Promise<void> {
  return async () => {
    await assertCurrent();
    signal.throwIfAborted();
  };
}

function beforeOf(state: EffectState): string {
  return state.type === 'started' ? state.before : '';
}

function endOf(state: EffectState): EffectEnd {
  if (state.type === 'intended' || state.type === 'started') {
    throw new Error(`An effect can't end as ${state.type}.`);
  }
  return state;
}
