import { condition } from '@temporalio/workflow';

/** Letters by the id that somebody waits for, whichever comes first: the wait or the letter. */
export interface Mailbox<Letter> {
  put(id: string, letter: Letter): void;
  /** Resolves when the letter is there; with undefined when somebody else, who waited for the same id, took it. */
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
