import type { Context } from '@temporalio/activity';
import type { Usage } from '../../contracts/usage.ts';

/** The work that an attempt does, for logs and traces: ids and counts, no text. What is absent is not known, or not yet. */
export interface AttemptWork {
  readonly kind: 'model_call' | 'tool_call';
  readonly agent_id: string;
  /** Defined in ModelTurnInput. */
  readonly delegation_id?: string | undefined;
  /** Number of the turn in its conversation, from 1. */
  readonly turn?: number;
  /** Name of the tool, as the model wrote it. */
  readonly tool?: string;
  /** Requested model. */
  readonly model?: string;
  /** Usage of all attempts at a call that came to its end. */
  readonly usage?: Usage;
}

/** The work by attempt, forgotten with it. */
const works = new WeakMap<Context, AttemptWork>();

/** Notes the initial data of an attempt. */
export function noteWork(context: Context, work: AttemptWork): void {
  works.set(context, work);
}

/** Adds data that became known later. */
export function addToWork(context: Context, known: Partial<AttemptWork>): void {
  const work = works.get(context);
  if (work !== undefined) works.set(context, { ...work, ...known });
}

/** @returns undefined when the attempt calls neither model nor tool. */
export function workOf(context: Context): AttemptWork | undefined {
  return works.get(context);
}
