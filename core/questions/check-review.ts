/**
 * Checks the planner's review of an agent's questions beyond its shape (seed 004 §10).
 *
 * Invariants:
 *   QR1. Each question has exactly one verdict, and nothing else has one.
 *   QR2. An answer for the agent fits its question; a question for the user has no answer.
 *   QR3. An answer names at least one source, and every source exists.
 *   QR4. A critical question is answered from a source, or goes to the user: its answer is never assumed.
 *   QR5. All faults are reported at once, each with path, reason and "Try: …".
 *   QR6. A question that awaits a result names unfinished delegations of the wave, and nothing else.
 *   QR7. A question goes to the solution architect only where there is one, and has no answer then.
 *   QR8. An answer is taken from no assumption, from no fact that is superseded and from no answer that was assumed.
 */
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { AskedQuestion, QuestionReview } from '../../contracts/question.ts';
import { capFaults, listNames } from '../text/list-names.ts';
import { cutText } from '../text/cut-text.ts';
import { checkAnswer } from './check-answer.ts';
import { findCycle, listDependents } from '../schedule/dependencies.ts';
import { hasEnded } from '../schedule/schedule.ts';
import type { Entry } from '../schedule/schedule.ts';

interface ReviewContext {
  readonly questions: readonly AskedQuestion[];
  /** Facts of the pool are `f1` to `f<facts_total>`. */
  readonly facts_total: number;
  /** Names of all other possible sources. */
  readonly sources: readonly string[];
  /** delegation_ids whose results may be awaited. */
  readonly unfinished: readonly string[];
  /** True where the plan has a solution architect for them. Absent: false. */
  readonly architect?: boolean;
}

type Verdict = QuestionReview['reviews'][number];

/** @returns every fault at once; empty when the review is valid. */
export function checkReview({ reviews }: QuestionReview, context: ReviewContext): OutputFault[] {
  return capFaults([
    ...checkNumbers(reviews, context.questions.length),
    ...reviews.flatMap((verdict, i) => [
      ...checkVerdict(verdict, context, `reviews[${i}]`),
      ...checkSources(verdict, context, `reviews[${i}].source_refs`),
    ]),
  ]);
}

function checkNumbers(reviews: readonly Verdict[], count: number): OutputFault[] {
  const numbers = reviews.map(({ question }) => question);
  const all = Array.from({ length: count }, (_, i) => i + 1);
  const missing = all.filter((number) => !numbers.includes(number));
  const wrong = numbers.filter((number, i) => number > count || numbers.indexOf(number) !== i);
  if (missing.length === 0 && wrong.length === 0) return [];
  return [
    {
      path: 'reviews',
      reason: [
        ...(missing.length === 0 ? [] : [`no verdict on ${missing.join(', ')}`]),
        ...(wrong.length === 0 ? [] : [`unknown or given twice: ${wrong.join(', ')}`]),
      ].join('; '),
      hint: `Try: one verdict for each question from 1 to ${count}`,
    },
  ];
}

const deciders = {
  needs_user_input: 'the user',
  architect: 'the solution architect',
  awaits: 'another delegation',
} as const;

function checkVerdict(
  { question: number, verdict, answer }: Verdict,
  { questions, architect = false }: ReviewContext,
  path: string,
): OutputFault[] {
  if (verdict === 'architect' && !architect) {
    const reason = 'there is no solution architect who could decide it';
    return [{ path: `${path}.verdict`, reason, hint: 'Try: "needs_user_input" with null' }];
  }
  if (verdict !== 'answered' && verdict !== 'assumed') {
    if (answer === null) return [];
    return [
      {
        path: `${path}.answer`,
        reason: `a question for ${deciders[verdict]} has no answer yet`,
        hint: 'Try: null, or the verdict "answered" or "assumed"',
      },
    ];
  }
  const question = questions[number - 1];
  if (question === undefined) return [];
  if (verdict === 'assumed' && question.priority === 'critical') {
    return [
      {
        path: `${path}.verdict`,
        reason: 'a critical question is never assumed',
        hint: 'Try: "answered" with the source that settles it, or "needs_user_input" with null',
      },
    ];
  }
  return checkAnswerOf({ verdict, answer }, question, path);
}

function checkAnswerOf(
  { verdict, answer }: Pick<Verdict, 'verdict' | 'answer'>,
  question: AskedQuestion,
  path: string,
): OutputFault[] {
  const checked = answer === null ? null : checkAnswer(question, answer);
  if (checked?.ok === true) return [];
  const reason = checked === null ? `the verdict "${verdict}" needs an answer` : checked.reason;
  const example = checked?.ok === false && checked.example !== null ? checked.example : null;
  const shown = example === null ? '' : `${cutText(JSON.stringify(example), 200)}, or `;
  return [
    {
      path: `${path}.answer`,
      reason,
      hint: `Try: ${shown}"needs_user_input" with null when you can't say`,
    },
  ];
}

function checkSources(
  { question, verdict, source_refs: refs }: Verdict,
  context: ReviewContext,
  path: string,
): OutputFault[] {
  const isCritical = context.questions[question - 1]?.priority === 'critical';
  const otherVerdict = isCritical ? '"needs_user_input" with null' : '"assumed"';
  if (verdict === 'awaits') return checkAwaited(refs, context, path);
  const unknown = refs.filter((ref) => !exists(ref.trim(), context));
  if (unknown.length > 0) {
    return [
      {
        path,
        reason: `no such source: ${listNames(unknown)}`,
        hint: `Try: ${describeSources(context)}; or ${otherVerdict} when nothing says so`,
      },
    ];
  }
  if (verdict !== 'answered' || refs.length > 0) return [];
  return [
    {
      path,
      reason: 'an answer names what it is taken from',
      hint: `Try: ${describeSources(context)}; or ${otherVerdict} when nothing says so`,
    },
  ];
}

function checkAwaited(
  refs: readonly string[],
  { unfinished }: ReviewContext,
  path: string,
): OutputFault[] {
  const unknown = refs.filter((ref) => !unfinished.includes(ref));
  if (unknown.length === 0 && refs.length > 0) return [];
  const reason =
    refs.length === 0
      ? 'nothing says which results are awaited'
      : `no unfinished delegation: ${listNames(unknown)}`;
  const others = unfinished.length === 0 ? '' : `one of ${listNames(unfinished)}, or `;
  return [{ path, reason, hint: `Try: ${others}another verdict` }];
}

/** @param unsettled Sources from which no answer is taken. */
export function checkSettled(
  { reviews }: Pick<QuestionReview, 'reviews'>,
  unsettled: readonly string[],
): OutputFault[] {
  return reviews.flatMap(({ verdict, source_refs }, i) => {
    const loose = source_refs.filter((ref) => unsettled.includes(ref.trim()));
    if (verdict !== 'answered' || loose.length === 0) return [];
    return [
      {
        path: `reviews[${i}].source_refs`,
        reason: `assumed or superseded, so no answer: ${listNames(loose)}`,
        hint: 'Try: a source that settles it; or "assumed"; or, for a critical question, "needs_user_input" with null',
      },
    ];
  });
}

function exists(ref: string, { facts_total, sources }: ReviewContext): boolean {
  const fact = /^f([1-9][0-9]{0,8})$/.exec(ref);
  return sources.includes(ref) || (fact !== null && Number(fact[1]) <= facts_total);
}

function describeSources({ facts_total, sources }: ReviewContext): string {
  const facts = facts_total === 0 ? '' : `a fact_id from f1 to f${facts_total}, or `;
  return `${facts}one of ${listNames(sources)}`;
}

/**
 * Decides by who waits for whom in a running wave: whose questions come next, and which no result will ever settle.
 *
 * Invariants:
 *   WG1. The questions come next whose asker holds up most unfinished work, directly or through others; among equals those
 *        that were asked first.
 *   WG2. A cycle begins and ends with the asker. In it each waits for the next: by the plan, or for a result that is to settle
 *        its questions.
 *   WG3. What has ended waits for nothing, and nothing waits for it.
 */

export type Waiting = Pick<Entry, 'delegation_id' | 'depends_on' | 'state'>;

/** Wait for results that are to settle questions. Both are delegation_ids. */
export interface AwaitedResults {
  readonly asker: string;
  readonly results: readonly string[];
}

/**
 * Chooses the next of several askers.
 *
 * @param askers Their delegation_ids in the order of asking.
 * @returns the place in the list; 0 when it is empty.
 */
export function chooseAsker(
  askers: readonly string[],
  awaited: readonly AwaitedResults[],
  entries: readonly Waiting[],
): number {
  const unended = joinWaits(awaited, entries);
  const counts = askers.map((id) => listDependents([id], unended).length);
  return Math.max(0, counts.indexOf(Math.max(...counts)));
}

/**
 * Finds the cycle that a wait for results would close.
 *
 * @param awaited All such waits, with that of the asker. @returns the path from the asker to itself, as [A, B, A], or null.
 */
export function findWaitCycle(
  asker: string,
  awaited: readonly AwaitedResults[],
  entries: readonly Waiting[],
): string[] | null {
  // The search begins with the asker: without its wait there was no cycle.
  const edges = new Map<string, readonly string[]>([[asker, []]]);
  for (const { delegation_id, depends_on } of joinWaits(awaited, entries)) {
    edges.set(delegation_id, depends_on);
  }
  return findCycle(edges);
}

/** Returns what has not ended, each with all that it waits for. */
function joinWaits(
  awaited: readonly AwaitedResults[],
  entries: readonly Waiting[],
): readonly Waiting[] {
  const unended = entries.filter(({ state }) => !hasEnded(state));
  const ids = new Set(unended.map(({ delegation_id }) => delegation_id));
  return unended.map((one) => {
    const asked = awaited.flatMap(({ asker, results }) =>
      asker === one.delegation_id ? results : [],
    );
    return { ...one, depends_on: [...asked, ...one.depends_on].filter((id) => ids.has(id)) };
  });
}
