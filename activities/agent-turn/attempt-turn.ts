import type { Context } from '@temporalio/activity';

/** By the attempt; forgotten with it. */
const turns = new WeakMap<Context, number>();

/** Notes which turn of its conversation an attempt is about, as soon as that is known. */
export function noteTurn(context: Context, turn: number): void {
  turns.set(context, turn);
}

/** @returns undefined when the attempt is about none, or does not know yet. */
export function turnOf(context: Context): number | undefined {
  return turns.get(context);
}
