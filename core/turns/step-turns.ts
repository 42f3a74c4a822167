/**
 * Decides what follows from each reply of the model, until there is a valid output or an end.
 *
 * Invariants:
 *   TU1. Every state takes every event; one that does not fit changes nothing, and the outstanding command is repeated.
 *   TU2. A conversation makes at most `max_turns` calls.
 *   TU3. A bad output gets `attempts_max` attempts in total; then the failure names the last faults.
 *   TU4. No reply is answered by repeating the same call, except a pause of the provider.
 *   TU5. A cut-off reply doubles the tokens up to the ceiling, at most `truncationsMax` times.
 *   TU6. A conversation that does not fit is compacted, at most `compactionsMax` times.
 *   TU7. A refusal, an unknown stop and a wrong number of tool results end the conversation at once, with the cause.
 *   TU8. Finished resumes only when answers arrive; failed and stopped never do. Answers that only refuse the questions
 *        end it when they come for the `refusedRoundsMax`th time in a row. Bad outputs do not count for this.
 *   TU9. Tools may end the turn, spend an attempt like bad output does, or fail it; model calls that they made count as
 *        turns.
 */
import type { StateToolCall, ToolCall, TurnReply } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import type {
  CallCommand,
  FailureReason,
  TurnsBody,
  TurnsEvent,
  TurnsOptions,
  TurnsState,
  TurnsStep,
  UsingTools,
} from './turns-state.ts';

/** Opens a conversation. The first call is the `command` of the returned state. */
export function openTurns(options: TurnsOptions): TurnsState {
  return begin({
    max_turns: options.max_turns,
    attempts_max: options.attempts_max ?? engineLimits.outputRepairsMax,
    turns: options.turns_done ?? 0,
    attempts: 0,
    refused_rounds: 0,
    truncations: 0,
    compactions: 0,
    max_output_tokens: options.max_output_tokens,
  });
}

export function stepTurns(state: TurnsState, event: TurnsEvent): TurnsStep {
  const next = applyEvent(state, event);
  return { state: next, command: next.command };
}

/** @returns the same state when the event does not fit it. */
function applyEvent(state: TurnsState, event: TurnsEvent): TurnsState {
  switch (event.type) {
    case 'reply':
      return state.type === 'calling' ? takeReply(state, event.reply) : state;
    case 'checked':
      if (state.type !== 'checking') return state;
      return event.faults.length === 0
        ? { ...bodyOf(state), type: 'finished', command: { type: 'finish' } }
        : repair(state, event.faults, 'head');
    case 'tool_results':
      return state.type === 'using_tools' ? takeResults(state, event) : state;
    case 'resumed':
      if (state.type !== 'finished') return state;
      return resume(state, event.is_refused === true);
    default:
      return state;
  }
}

function takeReply(state: TurnsState, reply: TurnReply): TurnsState {
  switch (reply.type) {
    case 'output':
      return { ...bodyOf(state), type: 'checking', command: { type: 'check' } };
    case 'malformed':
      return repair(state, reply.faults, 'head');
    case 'tools':
      return useTools(state, reply.calls);
    case 'truncated':
      return raiseTokens(state);
    case 'context_exceeded':
      return compact(state);
    case 'refused':
      return fail(state, 'refused', describeRefusal(reply.text));
    case 'empty':
      return repair(state, [emptyReply], 'before');
    case 'paused':
      return call(state, { from: 'head' });
    case 'unknown_stop':
      return fail(
        state,
        'unknown_stop',
        `The model stopped for a reason that is not known: "${cutText(reply.stop_reason, 100)}".`,
      );
    case 'unaffordable':
      return fail(state, 'budget_spent', 'The budget does not allow the call.');
    case 'aborted':
      return { ...bodyOf(state), type: 'stopped', command: { type: 'stopped' } };
    default:
      return state;
  }
}

function useTools(state: TurnsState, calls: readonly (ToolCall | StateToolCall)[]): TurnsState {
  if (calls.length === 0) return repair(state, [noToolNamed], 'head');
  return { ...bodyOf(state), type: 'using_tools', command: { type: 'run_tools', calls } };
}

/** Spends an attempt; the faults go back to the model while attempts are left. */
function repair(
  state: TurnsState,
  faults: readonly OutputFault[],
  from: CallCommand['from'],
): TurnsState {
  return spendAttempt(state, faults, { from, note: faults });
}

function spendAttempt(
  body: TurnsBody,
  faults: readonly OutputFault[],
  next: Pick<CallCommand, 'from'> & Partial<Pick<CallCommand, 'note'>>,
): TurnsState {
  const attempts = body.attempts + 1;
  const counted = { ...bodyOf(body), attempts };
  const max = body.attempts_max;
  if (attempts < max) return call(counted, next);
  const reason = `No valid output in ${max} attempts. The last one: ${nameFaults(faults)}`;
  return fail(counted, 'invalid_output', reason);
}

function resume(body: TurnsBody, isRefused: boolean): TurnsState {
  const refused_rounds = isRefused ? body.refused_rounds + 1 : 0;
  const counted = { ...bodyOf(body), attempts: 0, refused_rounds };
  if (refused_rounds < refusedRoundsMax) return begin(counted);
  const reason = `The agent stays blocked: all its questions were refused ${refused_rounds} times in a row.`;
  return fail(counted, 'other', reason);
}

function raiseTokens(state: TurnsState): TurnsState {
  const now = state.max_output_tokens;
  const raised = Math.min(now * 2, engineLimits.outputTokensCeiling);
  if (state.truncations >= engineLimits.truncationsMax || raised <= now) {
    return fail(
      state,
      'output_cut',
      `The reply was cut off at ${now} output tokens, which cannot be raised further.`,
    );
  }
  const counted = {
    ...bodyOf(state),
    truncations: state.truncations + 1,
    max_output_tokens: raised,
  };
  return call(counted, { from: 'before' });
}

function compact(state: TurnsState): TurnsState {
  const max = engineLimits.compactionsMax;
  if (state.compactions >= max) {
    return fail(
      state,
      'context_full',
      `The conversation does not fit the model's context, even after ${max} compactions.`,
    );
  }
  const counted = { ...bodyOf(state), compactions: state.compactions + 1 };
  return call(counted, { from: 'before', compact: true });
}

type ToolResults = Extract<TurnsEvent, { type: 'tool_results' }>;

function takeResults(state: UsingTools, { count, verdict, calls_made }: ToolResults): TurnsState {
  const asked = state.command.calls.length;
  const counted = { ...bodyOf(state), turns: state.turns + (calls_made ?? 0) };
  // A missing result would make the provider refuse every later call of the conversation.
  if (count !== asked) {
    const reason = `${asked} tool calls came back with ${count} results.`;
    return fail(counted, 'tool_results_missing', reason);
  }
  switch (verdict?.type) {
    case undefined:
    case 'go_on':
      return call(counted, { from: 'head' });
    case 'finished':
      return { ...counted, type: 'finished', command: { type: 'finish', by: 'tools' } };
    case 'invalid':
      // The results name the faults: no note is needed.
      return spendAttempt(counted, verdict.faults, { from: 'head' });
    case 'failed':
      return fail(counted, verdict.why, verdict.reason);
  }
}

function call(
  body: TurnsBody,
  how: Pick<CallCommand, 'from'> & Partial<Pick<CallCommand, 'note' | 'compact'>>,
): TurnsState {
  const { max_turns: max } = body;
  if (body.turns >= max) {
    const last = how.note === undefined ? '' : ` The last reply: ${nameFaults(how.note)}`;
    return fail(body, 'turns_spent', `The limit of ${max} turns (max_turns) is reached.${last}`);
  }
  const command: CallCommand = {
    type: 'call',
    max_output_tokens: body.max_output_tokens,
    compact: how.compact ?? false,
    note: how.note ?? [],
    from: how.from,
  };
  return { ...bodyOf(body), turns: body.turns + 1, type: 'calling', command };
}

function begin(body: TurnsBody): TurnsState {
  return call(body, { from: 'head' });
}

function fail(body: TurnsBody, why: FailureReason, reason: string): TurnsState {
  return { ...bodyOf(body), type: 'failed', command: { type: 'fail', why, reason } };
}

function bodyOf(body: TurnsBody): TurnsBody {
  return {
    max_turns: body.max_turns,
    attempts_max: body.attempts_max,
    turns: body.turns,
    attempts: body.attempts,
    refused_rounds: body.refused_rounds,
    truncations: body.truncations,
    compactions: body.compactions,
    max_output_tokens: body.max_output_tokens,
  };
}

function describeRefusal(text: string): string {
  const said = text.trim();
  return said === ''
    ? 'The model refused and said nothing about why.'
    : `The model refused: ${cutText(said, 1_000)}`;
}

function nameFaults(faults: readonly OutputFault[]): string {
  const shown = faults
    .slice(0, 3)
    .map((f) => (f.path === '' ? f.reason : `${f.path}: ${f.reason}`));
  const rest = faults.length > 3 ? ` (and ${faults.length - 3} more)` : '';
  return cutText(`${shown.join('; ')}${rest}`, 1_000);
}

/** Rounds in a row in which all questions of an agent are refused. The first refusal tells it to work without an answer. */
const refusedRoundsMax = 3;

const emptyReply: OutputFault = {
  path: '',
  reason: 'the reply was empty',
  hint: 'Try: answer with the output that was asked for',
};

const noToolNamed: OutputFault = {
  path: '',
  reason: 'the reply asked for tools but named none',
  hint: 'Try: call a tool by its name, or answer with the output that was asked for',
};
