import { Slug } from '../contracts/slug.ts';
import { PlanwaveClientError } from './client-error.ts';

/** A run id must be a slug because paths and the ids of all its workflows begin with it. */
const lengthMax = 40;

/**
 * A readable id for a new run: the goal's first words and the start time in base 36.
 * Goals without a Latin letter or a digit give `run-<time>`.
 */
export function generateRunId(goal: string, nowMs: number): string {
  const suffix = Math.max(0, Math.trunc(nowMs)).toString(36);
  const words = goal
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '');
  return `${cutAtWord(words, lengthMax - suffix.length - 1) || 'run'}-${suffix}`;
}

/** @throws PlanwaveClientError `bad_input` when the id can't be used in paths and workflow ids. */
export function checkRunId(runId: string): string {
  if (Slug.safeParse(runId).success) return runId;
  throw new PlanwaveClientError(
    'bad_input',
    `run id ${JSON.stringify(runId)}: expected 1 to ${lengthMax} lower-case letters, digits, "-" or "_", ` +
      'beginning with a letter or digit. Try: --id market-research',
  );
}

function cutAtWord(words: string, charactersMax: number): string {
  const cut = words.slice(0, charactersMax);
  const inWord = words.length > charactersMax && words[charactersMax] !== '-';
  const end = inWord ? cut.lastIndexOf('-') : cut.length;
  return (end > 0 ? cut.slice(0, end) : cut).replace(/(?<!-)-+$/, '');
}
