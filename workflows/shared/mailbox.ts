import { condition } from '@temporalio/workflow';

/** Rendezvous by id: `take` resolves once `put` was called for the id, in either order. */
export interface Mailbox<Letter> {
  put(id: string, letter: Letter): void;
  /** Resolves with the letter; with undefined when another waiter for the same id took it. */
  take(id: string): Promise<Letter | undefined>;
}

export function createMailbox<Letter>(): Mailbox<Letter> {
  const letters = new Map<string, Letter>();
  return {
    put: (id, letter) => void letters.set(id, letter),
    async take(id) {
      await condition(() => letters.has(id));
      const letter = letters.get(id);
      letters.delete(id);
      return letter;
    },
  };
}
