/**
 * Looks up the place that each piece of evidence names.
 *
 * Invariants:
 *   EV1. A heading and a quotation stand in the output's own detailed_md; case, white space and punctuation don't
 *        matter.
 *   EV2. A tool's name or call, an answer and an input exist in the conversation: the call gave a result, the answer is
 *        more than an assumption, the input was given or loaded.
 *   EV3. A place that is not found is a fault, which lists the possible names.
 *   EV4. An output that waits for answers is not checked: its evidence comes with the answers.
 *   EV5. A path that is named as unchanged is no file that differs from the user's, and no folder of one. Where there is no
 *        copy, nothing can be named so.
 */
import type {
  AgentOutput,
  AgentOutputOutline,
  Coverage,
  EvidencePlace,
} from '../../contracts/agent-output.ts';
import type { RecordedEffect } from '../../contracts/effect.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { cutText, normaliseText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { readMarkdown, titleOfHeading } from '../text/markdown.ts';

/** Shortest quotation, in normalised characters. Shorter ones occur in any text. */
const quoteCharsMin = 12;

/** Names that a fault lists, so that the agent can choose one. */
const namesShownMax = 12;

/** Names that evidence can point at, besides the output itself and the files that were written. */
export interface EvidenceSources {
  /** Names and ids of tool calls that gave a result. */
  readonly tools: readonly string[];
  /** question_ids of answers that are not mere assumptions. */
  readonly answers: readonly string[];
  /** Names of inputs that were given, and of details that were loaded. */
  readonly inputs: readonly string[];
}

/** @returns a fault for each place that is not found. `checkClaimedEffects` looks up files. */
export function checkEvidence(
  { status, coverage, detailed_md }: Pick<AgentOutput, 'status' | 'coverage' | 'detailed_md'>,
  sources: EvidenceSources,
): OutputFault[] {
  if (status === 'blocked' || coverage.criteria_met.length === 0) return [];
  const names = (kind: EvidencePlace['kind']): boolean =>
    coverage.criteria_met.some(({ where }) => where.kind === kind);
  // A long text is read only when evidence points into it.
  const headings = names('heading') ? listHeadings(detailed_md) : [];
  const look = { ...sources, headings, text: names('quote') ? normalise(detailed_md) : '' };
  return coverage.criteria_met.flatMap(({ where }, i) => {
    const fault = findFault(where, look);
    return fault === null ? [] : [{ path: `coverage.criteria_met[${i}].where`, ...fault }];
  });
}

/**
 * Looks up the paths that evidence names as unchanged.
 *
 * @param touched Paths of the caller's copy that differ from the user's files; null when there is no copy.
 */
export function checkUnchangedPaths(
  { criteria_met }: Pick<AgentOutput['coverage'], 'criteria_met'>,
  touched: readonly string[] | null,
): OutputFault[] {
  return criteria_met.flatMap(({ where: { kind, value } }, i) => {
    if (kind !== 'unchanged') return [];
    const path = `coverage.criteria_met[${i}].where`;
    const hint = 'Try: put the files back, or move the criterion to criteria_unmet';
    if (touched === null) {
      return [{ path, reason: 'you work in no copy, so nothing shows what is unchanged', hint }];
    }
    const wanted = value.trim().replace(/^\.\/|\/$/gu, '');
    const changed = touched.filter(
      (one) => wanted === '.' || wanted === '' || one === wanted || one.startsWith(`${wanted}/`),
    );
    const reason = `${show(value)} is not unchanged: ${listNames(changed.slice(0, namesShownMax))}`;
    return changed.length === 0 ? [] : [{ path, reason, hint }];
  });
}

function listHeadings(text: string): string[] {
  return readMarkdown(text).flatMap((line) => (line.level > 0 ? [titleOfHeading(line)] : []));
}

interface Look extends EvidenceSources {
  readonly headings: readonly string[];
  /** detailed_md, normalised. */
  readonly text: string;
}

type Fault = Omit<OutputFault, 'path'>;

function findFault({ kind, value }: EvidencePlace, look: Look): Fault | null {
  switch (kind) {
    case 'heading':
      return isHeading(value, look.headings)
        ? null
        : missing(`detailed_md has no heading ${show(value)}`, 'a heading', look.headings);
    case 'quote':
      return findQuoteFault(value, look.text);
    case 'tool':
      return look.tools.includes(firstWord(value))
        ? null
        : missing(
            `no tool call ${show(value)} of this conversation gave a result`,
            'the name of a tool that you called',
            look.tools,
          );
    case 'answer':
      return look.answers.includes(value.trim())
        ? null
        : missing(
            `you were given no answer to a question ${show(value)}`,
            'a question_id that somebody answered',
            look.answers,
          );
    case 'input':
      return look.inputs.includes(value.trim())
        ? null
        : missing(
            `you were given no input ${show(value)}, and loaded no such detail`,
            'the name of an input or of a detail that you loaded',
            look.inputs,
          );
    case 'file':
    case 'unchanged':
      return null;
  }
}

function isHeading(value: string, headings: readonly string[]): boolean {
  const wanted = normalise(value);
  return (
    wanted !== '' && headings.some((heading) => ` ${normalise(heading)} `.includes(` ${wanted} `))
  );
}

/** Looks up a quotation. It may omit words with "…" or "...": then each part must occur, in this order. */
function findQuoteFault(value: string, text: string): Fault | null {
  const parts = value
    .split(/…|\.\.\./u)
    .map(normalise)
    .filter((part) => part !== '');
  const hint =
    'Try: copy a sentence from detailed_md word for word, or name the heading that it stands under with kind "heading"';
  if (parts.join(' ').length < quoteCharsMin) {
    const reason = `the quotation ${show(value)} is too short to be looked up (at least ${quoteCharsMin} characters)`;
    return { reason, hint };
  }
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at < 0) return { reason: `detailed_md does not hold the words ${show(value)}`, hint };
    from = at + part.length;
  }
  return null;
}

function missing(reason: string, what: string, names: readonly string[]): Fault {
  const other = 'or move the criterion to criteria_unmet';
  return {
    reason,
    hint:
      names.length === 0
        ? `Try: another kind of place, ${other}`
        : `Try: ${what}, ${other}. There are: ${listNames(names, namesShownMax)}`,
  };
}

/** Returns the tool of `load_detail {"detail_id":"a"}`. */
function firstWord(value: string): string {
  return /^[\w.-]+/u.exec(value.trim())?.[0] ?? '';
}

function normalise(text: string): string {
  return normaliseText(text.replaceAll(/[`|~<>]/gu, ' ')).trim();
}

function show(value: string): string {
  return JSON.stringify(cutText(value, 120));
}

/**
 * Compares the changes that an agent claims to have made outside of the run with those that the engine saw (seed 004
 * §11).
 *
 * Invariants:
 *   EC1. A claim holds when the newest effect on that target that may have taken place is confirmed; any other claim is
 *        `unproven`, and the output goes back.
 *        `unproven`, and the output goes back.
 *   EC3. A file that evidence names must have been written in this delegation, just like a claimed one.
 *   EC2. Every claim is judged, and the fault lists what could be claimed.
 */

/** Part of an effect that the rules need. An effect that is only intended has no more than id, target and state. */
export type KnownEffect = Pick<RecordedEffect, 'effect_id' | 'target' | 'state'> &
  Partial<Pick<RecordedEffect, 'tool' | 'arguments_ref' | 'receipt'>>;

type Claiming = Pick<AgentOutputOutline, 'effects_claimed' | 'coverage' | 'status'>;

/** @param effects Effects of the delegation, in the order of its calls. */
export function checkClaimedEffects(
  { effects_claimed, coverage, status }: Claiming,
  effects: readonly KnownEffect[],
): OutputFault[] {
  const states = new Map<string, KnownEffect['state']>();
  for (const { target, state } of effects) {
    if (mayHaveHappened(state)) states.set(target, state);
  }
  const proven = [...states].flatMap(([target, state]) => (state === 'confirmed' ? target : []));
  const known = proven.length === 0 ? 'There are none' : `Confirmed are: ${listNames(proven)}`;
  const files = status === 'blocked' ? [] : findFiles(coverage);
  const claims = effects_claimed.map((claim, i) => ({ claim, path: `effects_claimed[${i}]` }));
  return [...claims, ...files].flatMap(({ claim, path }) => {
    if (states.get(claim) === 'confirmed') return [];
    return [
      {
        path,
        reason: `unproven: ${JSON.stringify(cutText(claim, 120))} has no confirmed effect in this delegation. ${known}`,
        hint: 'Try: bring it about with a tool, or take the claim out and move the criteria that rest on it to criteria_unmet',
      },
    ];
  });
}

function findFiles({ criteria_met }: Coverage): { claim: string; path: string }[] {
  return criteria_met.flatMap(({ where }, i) =>
    where.kind === 'file'
      ? [{ claim: where.value, path: `coverage.criteria_met[${i}].where` }]
      : [],
  );
}

function mayHaveHappened(state: KnownEffect['state']): boolean {
  return state !== 'failed' && state !== 'denied';
}
