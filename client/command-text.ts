/** How a user of a fresh checkout calls the client; printed commands can be copied as they are. */
export const commandPrefix = 'npm run planwave --';

const safeWord = /^[\w@%+=:,./-]+$/;

/** One word for a POSIX shell: as it is when harmless, else in single quotes. */
export function shellQuote(word: string): string {
  return safeWord.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** A client command that can be pasted into a shell. */
export function commandText(...words: readonly string[]): string {
  return [commandPrefix, ...words.map(shellQuote)].join(' ');
}
