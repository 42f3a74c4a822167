import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import { assumingAnswerers } from '../../contracts/names.ts';
import type { DeliveredAnswer, NewsItem, QuestionsEscalation } from '../../contracts/messages.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { AskedQuestion, PlannerVerdict } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import { answerUnasked } from '../../core/questions/answer-unasked.ts';
import { checkReview } from '../../core/questions/check-review.ts';
import { questionKey } from '../../core/questions/repeated-questions.ts';
import { answersInNews } from '../../core/run/news.ts';
import type { NewsFeed } from '../shared/news-feed.ts';
import { tryPlanner } from './consult-planner.ts';
import type { Consultation, PlannerContext } from './consult-planner.ts';
import { knownAnswers } from './wave-context.ts';

/** Material for the planner besides the questions, and the way to consult it. */
export interface Reviewing {
  readonly order: WaveOrder;
  readonly plan_ref: Ref;
  /** Returns the outputs of this wave that are finished. */
  readonly outputs: () => readonly UpstreamOutput[];
  /** Returns the delegation_ids of this wave that have not ended, without the asker. */
  readonly unfinished: () => readonly string[];
  /** Keys of questions that the inbox refuses from now on. Those that it names with an answer are added. */
  readonly refused: Set<string>;
  /** Returns true when the asker has ended, so that the answers are not needed. */
  readonly isGone: () => boolean;
  /** Returns the solution architect for questions of this asker, and its decisions; null where there is none. */
  readonly architect: {
    readonly agent_name: string;
    /** @returns the answer to each question, null where there is none; null when the wave was stopped. */
    readonly decide: (questions: readonly AskedQuestion[]) => Promise<Decided | null>;
  } | null;
  /** Makes the planner's calls as part of the wave. */
  readonly review: (work: () => Promise<Reviewed>) => Promise<Reviewed>;
  /** Waits until these delegations have ended, or the asker has. @returns the cycle that the wait would close, at once. */
  readonly untilEnded: (delegationIds: readonly string[]) => Promise<readonly string[] | null>;
}

/** Decisions of the solution architect. */
export interface Decided {
  readonly delegation_id: string;
  readonly answers: readonly (string | null)[];
  /** Reason why an answer is missing. */
  readonly reason: string;
}

type Verdicts = readonly (PlannerVerdict | null)[];

export type Reviewed = Awaited<ReturnType<typeof tryPlanner>>;

/**
 * Puts a delegation's questions to those that can answer them (seed 004 §2.1 and §10): to the planner first, even
 * critical ones. Answers and assumptions of the planner go through the same inbox as all questions, so they are
 * recorded, counted and delivered like any answer. What a result of the wave will settle is reviewed again with it. A
 * question that the inbox refuses is not reviewed.
 *
 * @returns null when the asker is gone.
 */
export async function putQuestions(
  escalation: QuestionsEscalation,
  context: PlannerContext,
  reviewing: Reviewing,
): Promise<readonly DeliveredAnswer[] | null> {
  const verdicts: (PlannerVerdict | null)[] = escalation.questions.map(() => null);
  let places: readonly number[] =
    escalation.kind === 'blocking' ? placesToReview(escalation, reviewing) : [];
  if (places.length === 0) return ask(escalation, context, reviewing);
  while (places.length > 0) {
    const questions = places.flatMap((place) => escalation.questions[place] ?? []);
    // Each review needs the results that the one before awaited.
    // oxlint-disable-next-line no-await-in-loop
    const reviewed = await reviewing.review(() =>
      tryPlanner(
        consultationOn({ ...escalation, questions }, reviewing, context.superior.news),
        reviewing.order,
        context,
      ),
    );
    if (reviewed.type === 'stopped' || reviewing.isGone()) return null;
    for (const [at, place] of places.entries()) verdicts[place] = verdictIn(reviewed, at + 1);
    const awaiting = places.filter((place) => verdicts[place]?.verdict === 'awaits');
    // oxlint-disable-next-line no-await-in-loop
    places = awaiting.length === 0 ? [] : await awaitResults(awaiting, verdicts, reviewing);
    if (places.length > 0 && reviewing.isGone()) return null;
  }
  return verdicts.some(isRouted)
    ? askDecided({ ...escalation, verdicts }, verdicts, context, reviewing)
    : ask({ ...escalation, verdicts }, context, reviewing);
}

/** Puts questions into the inbox, and keeps which of them it refuses from now on. */
async function ask(
  escalation: QuestionsEscalation,
  { superior }: PlannerContext,
  { refused }: Reviewing,
): Promise<readonly DeliveredAnswer[]> {
  const answers = await superior.ask(escalation);
  for (const [place, { text }] of escalation.questions.entries()) {
    if (answers[place]?.is_last) refused.add(questionKey(escalation.delegation_id, text));
  }
  return answers;
}

async function askDecided(
  escalation: QuestionsEscalation,
  verdicts: Verdicts,
  context: PlannerContext,
  reviewing: Reviewing,
): Promise<readonly DeliveredAnswer[] | null> {
  const decided = await letDecide(escalation, verdicts, reviewing);
  if (decided === null || reviewing.isGone()) return null;
  return ask({ ...escalation, verdicts: decided }, context, reviewing);
}

/** Waits for the results that are to settle questions. @returns the places to review again: those in no cycle. */
async function awaitResults(
  places: readonly number[],
  verdicts: (PlannerVerdict | null)[],
  { untilEnded }: Reviewing,
): Promise<readonly number[]> {
  const ended = await Promise.all(
    places.map(async (place) => {
      const verdict = verdicts[place] ?? null;
      const cycle = verdict === null ? null : await untilEnded(verdict.source_refs);
      if (verdict !== null && cycle !== null) {
        verdicts[place] = { ...verdict, source_refs: [...cycle] };
      }
      return cycle === null ? place : [];
    }),
  );
  return ended.flat();
}

function isRouted(verdict: PlannerVerdict | null): boolean {
  return verdict?.verdict === 'architect';
}

/**
 * Has the solution architect decide the questions that the planner passed on to it. What it does not answer goes to the
 * user.
 *
 * @returns null when the wave was stopped.
 */
async function letDecide(
  { questions }: QuestionsEscalation,
  verdicts: Verdicts,
  { architect }: Reviewing,
): Promise<Verdicts | null> {
  const routed = questions.filter((_, place) => isRouted(verdicts[place] ?? null));
  const decided = (await architect?.decide(routed)) ?? null;
  if (decided === null) return null;
  const answers = [...decided.answers];
  return verdicts.map((verdict) => {
    if (verdict === null || !isRouted(verdict)) return verdict;
    const answer = answers.shift() ?? null;
    if (answer !== null) return { ...verdict, answer, source_refs: [decided.delegation_id] };
    const reason = `The solution architect gave no answer: ${decided.reason}`;
    return { ...verdict, verdict: 'needs_user_input', answer, reason };
  });
}

/** Returns indexes of the questions to review: without those that the run answers by itself, or refuses. */
function placesToReview(
  { questions, delegation_id }: QuestionsEscalation,
  { order, refused }: Reviewing,
): readonly number[] {
  return questions.flatMap((question, place) => {
    if (answerUnasked({ ...question, kind: 'blocking' }, order) !== null) return [];
    return refused.has(questionKey(delegation_id, question.text)) ? [] : [place];
  });
}

/** @returns null when the review stayed invalid: then the user is asked, as the agent wanted. */
function verdictIn(reviewed: Reviewed, number: number): PlannerVerdict | null {
  if (reviewed.type !== 'output' || reviewed.outline.shape !== 'question_review') return null;
  const found = reviewed.outline.review.reviews.find(({ question }) => question === number);
  if (found === undefined) return null;
  const { question: _number, ...verdict } = found;
  return verdict;
}

function consultationOn(
  { questions, delegation_id }: QuestionsEscalation,
  { order, plan_ref, architect, ...reviewing }: Reviewing,
  news: NewsFeed,
): Consultation {
  const { wave, record_ref, amendments, facts_total } = order;
  const outputs = reviewing.outputs();
  const unfinished = reviewing.unfinished();
  const sources = listSources(order, outputs, news.all());
  const assumed = knownAnswers(order, news)
    .filter(({ answered_by }) => assumingAnswerers.includes(answered_by))
    .map(({ question_id }) => question_id);
  return {
    stage: 'question_review',
    purpose: `review questions of ${delegation_id ?? 'an agent'}`,
    prompt: () => ({
      kind: 'question_review',
      ...(architect !== null && { architect: architect.agent_name }),
      wave,
      record_ref,
      plan_ref,
      delegation_id: delegation_id ?? '',
      questions,
      outputs,
      ...(unfinished.length > 0 && { unfinished }),
      ...(assumed.length > 0 && { assumed }),
      amendments,
    }),
    check: (outline) =>
      outline.shape === 'question_review'
        ? checkReview(outline.review, {
            questions,
            facts_total,
            sources,
            unfinished,
            architect: architect !== null,
          })
        : [],
    questions: () => [],
    isLast: () => false,
  };
}

/** Lists the named parts of the prompt except facts. */
function listSources(
  order: WaveOrder,
  outputs: readonly UpstreamOutput[],
  news: readonly NewsItem[],
): string[] {
  const isTold = news.some(({ type }) => type === 'instruction');
  return [
    ...order.known_inputs,
    ...outputs.map(({ delegation_id }) => delegation_id),
    ...[...order.answered_questions, ...answersInNews(news)].map((one) => one.question_id),
    ...(isTold || order.amendments.length > 0 ? ['instructions'] : []),
    ...(order.wave > 1 ? ['wave_compact'] : []),
  ];
}
