import type { Passable } from '../../contracts/agent-output.ts';
import type {
  ModelTurnInput,
  Prompt,
  StateToolCall,
  ToolCall,
  TurnInput,
  TurnOutline,
  TurnReply,
} from '../../contracts/model-turn.ts';
import type { StageName } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { ReadingScope, TurnTerms } from '../../contracts/transcript.ts';
import type { Usage } from '../../contracts/usage.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import type {
  CallCommand,
  FailureReason,
  ToolsVerdict,
  TurnsCommand,
  TurnsEvent,
  TurnsOptions,
  TurnsState,
} from '../../core/turns/turns-state.ts';
import { openTurns, stepTurns } from '../../core/turns/step-turns.ts';
import { keptTerms } from '../../core/turns/turn-call.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import { callModel } from './call-model.ts';
import type { Control } from './control.ts';
import type { Budget } from './budget.ts';
import type { Superior } from './superior.ts';
import { stopWhenCancelled } from './failures.ts';
import { followNews } from './news-feed.ts';
import { recorder } from './in-span.ts';
import { definedOnly } from '../../core/json.ts';

/** One agent's own conversation with the model: the part that history needs. */
export interface Conversation {
  head: Ref | null;
  /** Terms that the transcript keeps, so that calls leave them out. Absent while it keeps none. */
  terms?: TurnTerms | undefined;
  /** Inputs of the next call. */
  append: readonly TurnInput[];
  /** The newest news item that it contains. */
  news_id: number;
  /** question_ids of answers to its own questions. They arrive as news too, sooner or later. */
  answered: readonly string[];
  /** Contains the outstanding command. */
  turns: TurnsState;
  /** Number of calls, including the one in flight. */
  calls: number;
  usage: Usage;
}

/** Result of the tool calls of one reply. */
export interface ToolsDone {
  /** One input for each call, for the next call of the model, whatever the verdict. */
  readonly inputs: readonly TurnInput[];
  readonly verdict: ToolsVerdict;
  /** Model calls that the tools made themselves. */
  readonly calls_made: number;
}

/** Returns the result of ordinary tools: the model reads their output. */
export function readOn(inputs: readonly TurnInput[]): ToolsDone {
  return { inputs, verdict: { type: 'go_on' }, calls_made: 0 };
}

export interface ConversationContext {
  readonly run_id: string;
  readonly agent_id: string;
  readonly registry_ref: Ref;
  readonly stage: StageName;
  /** Returns the summary of a call. @param calls Number of the conversation's calls, including this one. */
  readonly label: (calls: number) => string;
  /** Delegation of the calls; absent for the planner. */
  readonly delegation_id?: string;
  /** Absent for a first attempt. */
  readonly recall?: ModelTurnInput['recall'] | undefined;
  /** Options for members of a triad: a model of their own, and tools that the workflow decides. */
  readonly offer?: Pick<ModelTurnInput, 'model' | 'state_tools'>;
  /** Returns what the tools of the next reply may read; absent for an agent without such tools. */
  readonly reading?: () => ReadingScope;
  /** Returns the parts that the output may pass on; absent for an author that writes all of its output. */
  readonly passable?: () => readonly Passable[];
  readonly control: Control;
  readonly superior: Superior;
  readonly budget: Budget;
  /** Checks the output against its rule. */
  readonly check: (
    outline: TurnOutline,
  ) => readonly OutputFault[] | Promise<readonly OutputFault[]>;
  readonly runTools?: (calls: readonly (ToolCall | StateToolCall)[]) => Promise<ToolsDone>;
  readonly onTurn?: () => void;
  readonly onReply?: (reply: TurnReply) => void;
  /** True for a conversation that hears no news, because nothing of the run may reach it. Absent: false. */
  readonly alone?: true;
  /** Returns true to stop before the next call, because history is long. */
  readonly carryOver?: () => boolean;
}

export type ConversationEnd =
  | { readonly type: 'output'; readonly outline: TurnOutline }
  /** Ended by its tool calls, whose results wait for the next turn. */
  | { readonly type: 'done_by_tools' }
  | { readonly type: 'failed'; readonly why: FailureReason; readonly reason: string }
  /** `words_ref`: the last words of a cut reply; null when there were none. */
  | { readonly type: 'stopped'; readonly words_ref: Ref | null }
  /** The budget does not allow another call. */
  | { readonly type: 'denied'; readonly reason: string }
  /** Not ended: the conversation continues in the next run of the workflow. */
  | { readonly type: 'carry_over' };

/** Returns a conversation before its first call. */
export function openConversation(prompt: Prompt, options: TurnsOptions): Conversation {
  return {
    head: null,
    append: [{ type: 'prompt', prompt }],
    news_id: 0,
    answered: [],
    turns: openTurns(options),
    calls: options.turns_done ?? 0,
    usage: noUsage,
  };
}

/** Makes calls until `core/turns` ends the conversation. Changes `conversation` in place. */
export async function converse(
  conversation: Conversation,
  context: ConversationContext,
): Promise<ConversationEnd> {
  const end = await callUntilEnd(conversation, context);
  if (end.type === 'failed' || end.type === 'denied') {
    const reason = end.type === 'denied' ? 'budget_spent' : end.why;
    recorder.count(metrics.failures, { agent: context.agent_id, reason });
  }
  return end;
}

async function callUntilEnd(
  conversation: Conversation,
  context: ConversationContext,
): Promise<ConversationEnd> {
  let reply: TurnReply | null = null;
  for (;;) {
    const { command } = conversation.turns;
    switch (command.type) {
      case 'call': {
        const called = await call(conversation, command, context);
        if (called.type !== 'replied') return called;
        reply = called.reply;
        step(conversation, { type: 'reply', reply });
        break;
      }
      case 'check':
        await checkOutput(conversation, outlineOf(reply), context);
        break;
      case 'run_tools':
        await useTools(conversation, command.calls, context);
        break;
      case 'finish':
      case 'fail':
      case 'stopped':
        return endOf(command, reply);
    }
  }
}

type LastCommand = Extract<TurnsCommand, { type: 'finish' | 'fail' | 'stopped' }>;

function endOf(command: LastCommand, reply: TurnReply | null): ConversationEnd {
  if (command.type === 'fail') return { ...command, type: 'failed' };
  if (command.type === 'stopped')
    return {
      type: 'stopped',
      words_ref: reply?.type === 'aborted' ? (reply.words_ref ?? null) : null,
    };
  if (command.by === 'tools') return { type: 'done_by_tools' };
  const outline = outlineOf(reply);
  if (outline === null) {
    return { type: 'failed', why: 'invalid_output', reason: 'The model gave no output.' };
  }
  return { type: 'output', outline };
}

function outlineOf(reply: TurnReply | null): TurnOutline | null {
  return reply?.type === 'output' ? reply.outline : null;
}

async function checkOutput(
  conversation: Conversation,
  outline: TurnOutline | null,
  context: ConversationContext,
): Promise<void> {
  const faults = outline === null ? [] : await context.check(outline);
  step(conversation, { type: 'checked', faults });
}

async function useTools(
  conversation: Conversation,
  calls: readonly (ToolCall | StateToolCall)[],
  context: ConversationContext,
): Promise<void> {
  await context.control.ready();
  const { inputs, verdict, calls_made } = (await context.runTools?.(calls)) ?? readOn([]);
  conversation.append = inputs;
  step(conversation, { type: 'tool_results', count: inputs.length, verdict, calls_made });
}

export function step(conversation: Conversation, event: TurnsEvent): void {
  conversation.turns = stepTurns(conversation.turns, event).state;
}

/** Returns what only some conversations have: a place of their own in the ledger, tools, works to pass on. */
function offeredBy({ delegation_id, recall, offer, reading, passable }: ConversationContext) {
  return {
    ...definedOnly({ delegation_id, recall }),
    ...offer,
    ...(reading !== undefined && { reading: reading() }),
    ...(passable !== undefined && { passable: passable() }),
  };
}

async function call(
  conversation: Conversation,
  command: CallCommand,
  context: ConversationContext,
): Promise<{ readonly type: 'replied'; readonly reply: TurnReply } | ConversationEnd> {
  if (context.carryOver?.() === true) return { type: 'carry_over' };
  const { append } = conversation;
  conversation.answered = [...conversation.answered, ...answersIn(append)];
  const news = followNews(context.superior.news, conversation);
  const note: TurnInput[] =
    command.note.length > 0 ? [{ type: 'faults', faults: command.note }] : [];
  if (note.length > 0) {
    recorder.count(metrics.repairs, { agent: context.agent_id, stage: context.stage });
  }
  const terms: TurnTerms = {
    run_id: context.run_id,
    agent_id: context.agent_id,
    registry_ref: context.registry_ref,
    stage: context.stage,
    max_output_tokens: command.max_output_tokens,
    ...offeredBy(context),
  };
  const called = await callModel(
    () => {
      const told = context.alone === true ? [] : news.read();
      const late: TurnInput[] = told.length > 0 ? [{ type: 'news', news: told }] : [];
      const { head } = conversation;
      return { ...terms, head, append: [...append, ...late, ...note], compact: command.compact };
    },
    context.label(conversation.calls + 1),
    conversation.terms ?? null,
    context,
    {
      onCall() {
        conversation.calls += 1;
        context.onTurn?.();
      },
      onRefused() {
        conversation.calls -= 1;
        context.onTurn?.();
      },
      onSpent(usage) {
        conversation.usage = addUsage(conversation.usage, usage);
      },
    },
  );
  if (called.type !== 'replied') return called;
  const { result } = called;
  // The new head holds the inputs of this turn, whether its reply was kept or dropped.
  conversation.head = result.head;
  conversation.terms = keptTerms(result, terms, conversation.terms);
  conversation.append = [];
  // A reply from before these news heard none of them.
  if (result.recalled !== true) conversation.news_id = news.last();
  if (result.recalled !== true && context.alone !== true) context.superior.news.hear(news.last());
  conversation.usage = addUsage(conversation.usage, result.usage);
  context.onReply?.(result.reply);
  return { type: 'replied', reply: result.reply };
}

function answersIn(append: readonly TurnInput[]): string[] {
  return append.flatMap((input) =>
    input.type === 'answers' ? input.answers.map(({ question_id }) => question_id) : [],
  );
}

/** Turns a cancellation into the end of a conversation. */
export async function stoppedWhenCancelled(
  work: () => Promise<ConversationEnd>,
): Promise<ConversationEnd> {
  return (await stopWhenCancelled(work)) ?? { type: 'stopped', words_ref: null };
}
