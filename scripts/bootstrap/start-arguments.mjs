/** Shown on request, and when the goal is missing. */
export const startUsage = `Usage: npm start -- "<goal>" [--defaults] [options of \`npm run planwave -- start\`]

Brings up everything on this machine, runs one goal and says where its result is.
  --defaults   answer every question with its default instead of asking

Example:
  npm start -- "Plan the move of our shop to a second data centre"`;

/**
 * The goal is every word before the first option, so that forgotten quotes do no harm.
 *
 * @param {readonly string[]} args
 * @returns {{ goal: string, defaults: boolean, rest: string[] }} `goal` is empty when there is none; `rest` holds the
 *   options that belong to the run
 */
export function splitStartArguments(args) {
  const firstOption = args.findIndex((arg) => arg.startsWith('-'));
  const words = firstOption === -1 ? args : args.slice(0, firstOption);
  const options = firstOption === -1 ? [] : args.slice(firstOption);
  return {
    goal: words.join(' ').trim(),
    defaults: options.includes('--defaults'),
    rest: options.filter((option) => option !== '--defaults'),
  };
}
