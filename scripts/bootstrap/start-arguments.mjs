/** Shown on request, and when the goal is missing. */
export const startUsage = `Usage: npm start -- "<goal>" [--defaults] [options of \`npm run planwave -- start\`]

Brings up everything on this machine, runs one goal and says where its result is.
  --defaults   answer every question with its default instead of asking

Example:
  npm start -- "Plan the move of our shop to a second data centre"`;

/** Options of `planwave start` without a value: words behind them are no value. Commander, which knows them, may not be installed yet. */
export const startFlags = [
  '--apply',
  '--assume',
  '--commit',
  '--defaults',
  '--direct',
  '--json',
  '--no-apply',
  '--no-check',
  '--no-teams',
  '--no-triads',
  '--notes',
  '--unattended',
  '--verify',
  '--watch',
  '--yes',
];

/**
 * The goal is every word up to the next option, so that forgotten quotes do no harm. Only options without a value may stand
 * before it.
 *
 * @param {readonly string[]} args
 * @returns {{ goal: string, defaults: boolean, rest: string[] }} `goal` is empty when there is none; `rest` holds the
 *   options that belong to the run
 */
export function splitStartArguments(args) {
  /** @type {string[]} */
  const words = [];
  /** @type {string[]} */
  const options = [];
  let isGoal = true;
  for (const arg of args) {
    if (arg.startsWith('-')) isGoal = words.length === 0 && startFlags.includes(arg);
    const list = isGoal && !arg.startsWith('-') ? words : options;
    list.push(arg);
  }
  return {
    goal: words.join(' ').trim(),
    defaults: options.includes('--defaults'),
    rest: options.filter((option) => option !== '--defaults'),
  };
}
