import type { DeliveredAnswer, NewsItem } from '../../contracts/messages.ts';
import { answererNames, assumingAnswerers } from '../../contracts/names.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { escapeInvisible, shareBytes } from '../../core/text/cut-text.ts';
import { countBytes } from '../text/bytes.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, jsonBlock, listBlock } from '../text/blocks.ts';
import { markData } from './mark-data.ts';

/**
 * Renders what comes back to the one who asked: all answers at once, in the order of the questions. They are marked,
 * because another agent may have asked the same, and a default is an agent's. An answer arrives exactly: what can't be
 * seen in it is escaped.
 */
export async function renderAnswers(
  store: ArtifactStore,
  answers: readonly DeliveredAnswer[],
  callKey: string,
): Promise<string> {
  const texts = await Promise.all(answers.map((one) => readAnswer(store, one)));
  const shares = shareBytes(texts.map(countBytes), blockBytesMax.answers);
  const entries = answers.map(({ question_id, text, answered_by }, at) => ({
    question_id,
    text,
    answer: cutAtLine(texts[at] ?? '', shares[at] ?? 0),
    answered_by,
  }));
  const refused = answers.filter((one) => one.loop);
  const repeated = refused.filter((one) => one.note_id === undefined);
  const goOn = `These are the answers to your questions. Those of ${nameBinding(answers)} are binding. Go on with your task and give the whole output.`;
  const assumed = answers
    .filter((one) => assumingAnswerers.includes(one.answered_by))
    .map((one) => one.question_id);
  return [
    markData(escapeInvisible(jsonBlock('answers', entries)), callKey),
    goOn,
    ...explainAssumed(assumed),
    ...explainLoop(repeated.map((one) => one.question_id)),
    ...explainUndecided(refused.flatMap((one) => one.note_id ?? [])),
  ].join('\n');
}

/**
 * Renders what was decided since the record was written that the first message is rendered from. With an answer it is
 * marked: agents wrote the question, and a default.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function renderNews(
  store: ArtifactStore,
  news: readonly NewsItem[],
  callKey: string,
): Promise<string> {
  const entries = await Promise.all(news.map((item) => describeNews(store, item)));
  const block = escapeInvisible(listBlock('news', entries, blockBytesMax.news, 'last'));
  return [
    news.some(({ type }) => type === 'answer') ? markData(block, callKey) : block,
    `This was decided while the work went on. Keep to its instructions and to the answers of ${nameBinding(news)} from here on. If you have given your output already, give the whole of it again, with this in mind.`,
  ].join('\n');
}

/** Names those whose answers bind. */
function nameBinding(items: readonly (DeliveredAnswer | NewsItem)[]): string {
  const isDecided = items.some(
    (one) => 'answered_by' in one && one.answered_by === answererNames.architect,
  );
  return isDecided ? 'a person, the planner or the solution architect' : 'a person or the planner';
}

async function describeNews(store: ArtifactStore, item: NewsItem): Promise<object> {
  if (item.type === 'instruction') {
    const { instruction, criteria_waived } = item;
    return { instruction, ...(criteria_waived.length > 0 && { criteria_waived }) };
  }
  const { question_id, text, answer, answer_ref, answered_by, delegation_id, changed } = item;
  const { contradicts } = item;
  const whole = answer_ref === null ? answer : await store.getText(answer_ref);
  return {
    question_id,
    text,
    answer: cutAtLine(whole, blockBytesMax.answered_question),
    answered_by,
    delegation_id,
    ...(changed && { changed }),
    ...(contradicts !== undefined && { contradicts }),
  };
}

async function readAnswer(store: ArtifactStore, one: DeliveredAnswer): Promise<string> {
  if (one.answer !== null) return one.answer;
  return one.answer_ref === null ? '' : store.getText(one.answer_ref);
}

function explainAssumed(assumed: readonly string[]): string[] {
  if (assumed.length === 0) return [];
  return [
    `${assumed.join(', ')}: nobody has decided this. Work with what stands there as an assumption, and name it in assumptions_made.`,
  ];
}

function explainLoop(repeated: readonly string[]): string[] {
  if (repeated.length === 0) return [];
  const ids = repeated.join(', ');
  return [
    `${ids}: this was asked before and is not put to the user again. Decide with what you have and name it in assumptions_made, or give status "failed" with the reason. Do not ask it once more.`,
  ];
}

function explainUndecided(note_ids: readonly string[]): string[] {
  if (note_ids.length === 0) return [];
  return [
    `${note_ids.join(', ')}: the question of this note was refused, so nobody has decided it and it stays escalated. Finish what does not depend on it, then give status "failed" with what depends on it in criteria_unmet. Do not ask it once more.`,
  ];
}
