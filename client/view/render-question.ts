import type { PageQuestion, RunPage } from '../../contracts/run-page.ts';
import { needsExplicitWord } from '../../core/questions/check-answer.ts';
import {
  answerCommand,
  describeAsker,
  describeUrging,
  listQuestionFacts,
  type QuestionStyle,
} from '../../core/render/questions.ts';
import { cleanLine } from '../../core/text/cut-text.ts';
import { findRefusal, refusalText } from '../cli/ask/answers.ts';
import { anchor, markup, type Html, type Part, type TextShelf } from './markup.ts';

/** Parts by which a page from a server follows its changes. */
export interface Live {
  /** Path of the page's own addresses, with a slash at its end. */
  readonly base: string;
  /** Names the state that the page shows: letters and digits. */
  readonly version: string;
}

/** Parts that only a run's page from a server has. */
export interface LivePage extends Live {
  /** Fates of answers that were given here, by question_id. */
  readonly notices: ReadonlyMap<string, AnswerNotice>;
}

export interface AnswerNotice {
  readonly text: string;
  /** True when the run accepted it. Else the question can be answered again. */
  readonly isTaken: boolean;
}

export interface SentAnswer extends AnswerNotice {
  /** Refusals of the run before an answer that no worker took; null when the run has said what becomes of it. */
  readonly before: RunPage['rejected_answers'] | null;
}

/** Tells the run's word on an answer that was sent while no worker took it, as soon as there is one. */
export function noticeOf(
  { run_id, rejected_answers }: RunPage,
  questionId: string,
  { before, ...notice }: SentAnswer,
): AnswerNotice {
  const refusal = before === null ? null : findRefusal(rejected_answers, questionId, before);
  return refusal === null ? notice : { text: refusalText(run_id, refusal), isTaken: false };
}

/** Shows what became of an answer that was given on the page, in whatever state its question is. Null without one. */
export function renderFate(live: LivePage | null, questionId: string): Html | null {
  const notice = live?.notices.get(questionId);
  return notice === undefined ? null : markup`<p class="notice" role="alert">${notice.text}</p>`;
}

const plain: QuestionStyle = { text: cleanLine, value: cleanLine, moment: () => '' };

/** Shows a question with everything that an answer decides about, and the form or the command that answers it. */
export function renderQuestion(
  runId: string,
  question: PageQuestion,
  live: LivePage | null,
  shelf: TextShelf,
): Html {
  const { question_id, priority, text, shown } = question;
  const id = anchor('question', question_id);
  const { choices } = question;
  const facts = [
    ...listQuestionFacts(question, plain),
    // On a live page, its form has them.
    ...(live !== null || choices.length === 0
      ? []
      : [{ label: 'answers', text: choices.map((one) => cleanLine(one, 200)).join(', ') }]),
  ];
  const isTaken = live?.notices.get(question_id)?.isTaken === true;
  return markup`<article class="question" id="${id}" aria-labelledby="${id}-h">
    <h3 id="${id}-h">
      ${question_id} · ${priority} · from
      ${describeAsker(question, plain)}${describeUrging(question)}
    </h3>
    <pre dir="auto">${text}</pre>
    <dl class="facts">
      ${facts.map(
        ({ label, text: told }) =>
          markup`<div>
            <dt>${label}</dt>
            <dd>${told}</dd>
          </div>`,
      )}
    </dl>
    ${shown.map(
      (one) =>
        markup`<details open>
          <summary>${one.title} (${one.text.length} characters)</summary>
          ${shelf.pre(one.text)}
        </details>`,
    )}${renderFate(live, question_id)}${isTaken ? null : live === null ? markup`<p>Answer with: <code>${answerCommand(runId, question)}</code></p>` : renderForm(question, live, id)}
  </article>`;
}

function renderForm(question: PageQuestion, { base }: LivePage, id: string): Html {
  const { question_id, default_answer, kind } = question;
  // A decision that lets the run act or spend has to be chosen, not confirmed.
  const takesDefault = default_answer !== null && !needsExplicitWord(kind);
  const second = takesDefault
    ? markup`<button class="second" name="as_default" value="1" formnovalidate>
        Take the default: ${cleanLine(default_answer, 60)}
      </button>`
    : null;
  return markup`<form method="post" action="${base}answer">
    <input
      type="hidden"
      name="question_id"
      value="${question_id}"
    />${renderField(question, id)}<button>Send the answer</button>${second}
  </form>`;
}

function renderField(question: PageQuestion, id: string): Part {
  const { expected_answer_format: format, choices, answer_schema: schema } = question;
  if (format === 'choice' || format === 'boolean') {
    const words = format === 'choice' ? choices : ['yes', 'no'];
    return markup`<fieldset>
      <legend>Your answer</legend>
      ${words.map((word) => markup`<label><input type="radio" name="answer" value="${word}" required /> ${word}</label>`)}
    </fieldset>`;
  }
  const hint =
    format === 'json'
      ? 'Your answer, as JSON'
      : format === 'number'
        ? 'Your answer, a number'
        : 'Your answer';
  const rule =
    schema === null
      ? null
      : markup`<p class="quiet">Schema: <code>${JSON.stringify(schema)}</code></p>`;
  const field =
    format === 'number'
      ? markup`<input type="text" inputmode="decimal" id="${id}-field" name="answer" required />`
      : markup`<textarea id="${id}-field" name="answer" required></textarea>`;
  return markup`${rule}<label for="${id}-field">${hint}</label>${field}`;
}
