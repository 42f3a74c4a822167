import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer, NewsItem, QuestionsEscalation } from '../../contracts/messages.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { AskedQuestion, PlannerVerdict } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import { answerUnasked } from '../../core/questions/answer-unasked.ts';
import { checkReview } from '../../core/questions/check-review.ts';
import { answersInNews } from '../../core/run/news.ts';
import type { NewsFeed } from '../shared/news-feed.ts';
import { tryPlanner } from './consult-planner.ts';
import type { Consultation, PlannerContext } from './consult-planner.ts';

/** Material for the planner besides the questions, and the way to consult it. */
export interface Reviewing {
  readonly order: WaveOrder;
  readonly plan_ref: Ref;
  /** Outputs of this wave that are finished. */
  readonly outputs: readonly UpstreamOutput[];
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
}

/** Decisions of the solution architect. */
export interface Decided {
  readonly delegation_id: string;
  readonly answers: readonly (string | null)[];
  /** Reason why an answer is missing. */
  readonly reason: string;
}

type Verdicts = readonly (PlannerVerdict | null)[];

/** Result of a review. */
export type Reviewed = Awaited<ReturnType<typeof tryPlanner>>;

/**
 * Puts a delegation's questions to those that can answer them (seed 004 §2.1 and §10): to the planner first, even
 * critical ones. Answers and assumptions of the planner go through the same inbox as all questions, so they are
 * recorded, counted and delivered like any answer.
 *
 * @returns null when the asker is gone.
 */
export async function putQuestions(
  escalation: QuestionsEscalation,
  context: PlannerContext,
  reviewing: Reviewing,
): Promise<readonly DeliveredAnswer[] | null> {
  const places = escalation.kind === 'blocking' ? placesToReview(escalation, reviewing) : [];
  if (places.length === 0) return context.superior.ask(escalation);
  const questions = places.flatMap((place) => escalation.questions[place] ?? []);
  const reviewed = await reviewing.review(() =>
    tryPlanner(
      consultationOn({ ...escalation, questions }, reviewing, context.superior.news),
      reviewing.order,
      context,
    ),
  );
  if (reviewed.type === 'stopped' || reviewing.isGone()) return null;
  const verdicts = verdictsOf(reviewed, escalation, places);
  if (!verdicts.some(isRouted)) return context.superior.ask({ ...escalation, verdicts });
  const decided = await letDecide(escalation, verdicts, reviewing);
  if (decided === null || reviewing.isGone()) return null;
  return context.superior.ask({ ...escalation, verdicts: decided });
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

/** Returns indexes of the questions to review. Questions that the run answers by itself need no review. */
function placesToReview(
  { questions }: QuestionsEscalation,
  { order }: Reviewing,
): readonly number[] {
  return questions.flatMap((question, place) =>
    answerUnasked({ ...question, kind: 'blocking' }, order) === null ? [place] : [],
  );
}

/** Returns the planner's verdicts; none when its review stayed invalid: then the user is asked, as the agent wanted. */
function verdictsOf(
  reviewed: Reviewed,
  { questions }: QuestionsEscalation,
  places: readonly number[],
): Verdicts {
  if (reviewed.type !== 'output' || reviewed.outline.shape !== 'question_review') return [];
  const { reviews } = reviewed.outline.review;
  return questions.map((_, place) => {
    const found = reviews.find(({ question }) => question === places.indexOf(place) + 1);
    if (found === undefined) return null;
    const { question: _number, ...verdict } = found;
    return verdict;
  });
}

function consultationOn(
  { questions, delegation_id }: QuestionsEscalation,
  { order, plan_ref, outputs, architect }: Reviewing,
  news: NewsFeed,
): Consultation {
  const { wave, record_ref, amendments, facts_total } = order;
  const sources = listSources(order, outputs, news.all());
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
      amendments,
    }),
    check: (outline) =>
      outline.shape === 'question_review'
        ? checkReview(outline.review, {
            questions,
            facts_total,
            sources,
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
