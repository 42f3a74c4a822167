import type { PageWork, RunPage } from '../../contracts/run-page.ts';
import type { RecordedCriterion } from '../../contracts/run-record.ts';
import { commandText, countOf } from '../../core/text/format.ts';
import { formatTime } from '../format-time.ts';
import { anchor, markup, type Html, type Part, type TextShelf } from './markup.ts';
import { renderFate, type LivePage } from './render-question.ts';
import { badge, fold, markdown, renderDiff, table } from './render-work.ts';

/** A part of the page with a heading of its own. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: Part;
}

/** Says how the run ended, where it comes from and where its changes are; in a file, that more may have happened since. */
export function renderTold(
  { run_id, told, status, updated_at }: RunPage,
  live: LivePage | null,
  shelf: TextShelf,
): Part {
  const isOld = live === null && status === null;
  const asked = isOld
    ? markup`<p class="notice">
        The run had not ended at the last change, ${formatTime(updated_at)} UTC. See:
        <code>${commandText('status', run_id)}</code>
      </p>`
    : null;
  return [asked, ...told.map((one) => markdown(shelf, one))];
}

export function renderCriteria(page: RunPage): Section | null {
  if (page.criteria.length === 0) return null;
  const work = new Map(page.waves.flatMap((wave) => wave.work).map((one) => [one.work_id, one]));
  const openWord = wordOpen(page.status);
  const entries = page.criteria.map((one) => {
    const { state, criterion_id, description, note } = one;
    const [word, tone] = state === 'open' ? openWord : [state, 'good'];
    const link = linkEvidence(one, work);
    return markup`<li>
      <span class="badge ${tone}">${word}</span> ${description}
      <code>${criterion_id}</code
      >${note === '' && link === null ? null : markup`<p class="quiet">${note}${link}</p>`}
    </li>`;
  });
  return {
    id: 'criteria',
    title: 'Criteria',
    body: markup`<ul class="criteria">
      ${entries}
    </ul>`,
  };
}

function wordOpen(status: RunPage['status']): readonly [string, string] {
  if (status === null) return ['open', 'work'];
  // A design is completed before its plan is carried out, and so is one phase of a triad.
  return status === 'completed' ? ['not judged', 'work'] : ['not met', 'bad'];
}

function linkEvidence(
  { criterion_id, delegation_id, question_id }: RecordedCriterion,
  work: ReadonlyMap<string, PageWork>,
): Part {
  if (question_id !== undefined) {
    return markup` <a href="#${anchor('question', question_id)}">Your answer to ${question_id}</a>`;
  }
  const one = delegation_id === null ? undefined : work.get(delegation_id);
  if (one === undefined) return null;
  const met = one.output?.coverage.criteria_met.find((two) => two.criterion_id === criterion_id);
  const place = met === undefined ? '' : ` (${met.where.kind}: ${met.where.value})`;
  const target = one.output === null ? anchor('work', one.work_id) : anchor('result', one.work_id);
  return markup` <a href="#${target}">Result of ${one.work_id}</a>${place}`;
}

export function renderAnswered(
  { answered_questions: answered, open_questions: open, status }: RunPage,
  live: LivePage | null,
  shelf: TextShelf,
): Section | null {
  // Before the end, they wait at the top of the page.
  const left = status === null ? [] : open;
  const known = new Set([...answered, ...open].map(({ question_id }) => question_id));
  // Their questions were withdrawn while the answers were written.
  const gone = [...(live?.notices.keys() ?? [])].filter((id) => !known.has(id));
  if (answered.length + left.length + gone.length === 0) return null;
  const lines = (text: string): Html =>
    shelf.show(text, (shown) => markup`<div class="lines" dir="auto">${shown}</div>`);
  const rows = answered.map(
    (one) =>
      markup`<tr id="${anchor('question', one.question_id)}">
        <th scope="row">${one.question_id}</th>
        <td class="text">${lines(one.text)}</td>
        <td class="text">${lines(one.answer)}${renderFate(live, one.question_id)}</td>
        <td>${one.answered_by}<br /><span class="quiet when">${formatTime(one.answered_at)}</span></td>
      </tr>`,
  );
  const unanswered = left.map(
    ({ question_id, text }) =>
      markup`<tr id="${anchor('question', question_id)}">
        <th scope="row">${question_id}</th>
        <td class="text">${lines(text)}</td>
        <td class="quiet">
          The run ended before an answer.${renderFate(live, question_id)}
        </td>
        <td></td>
      </tr>`,
  );
  const withdrawn = gone.map(
    (id) =>
      markup`<tr id="${anchor('question', id)}">
        <th scope="row">${id}</th>
        <td class="quiet">It is not open.</td>
        <td class="text">${renderFate(live, id)}</td>
        <td></td>
      </tr>`,
  );
  return {
    id: 'questions',
    title: 'Questions and answers',
    body: table(
      'Questions and answers',
      ['Id', 'Question', 'Answer', 'By'],
      [...rows, ...unanswered, ...withdrawn],
    ),
  };
}

export function renderEffects({ effects, diff }: RunPage, shelf: TextShelf): Section | null {
  const patch =
    diff === null || diff === '' ? null : fold('All changes as a patch', renderDiff(diff, shelf));
  if (effects.length === 0 && patch === null) return null;
  const rows = effects.map(({ effect_id, tool, target, state, reason, delegation_id }) => {
    return markup`<tr>
      <th scope="row" class="text"><code>${target === '' ? effect_id : target}</code></th>
      <td>${tool}</td>
      <td>${badge(state === 'confirmed' ? 'done' : state)}</td>
      <td><a href="#${anchor('work', delegation_id)}">${delegation_id}</a></td>
      <td class="text">${reason}</td>
    </tr>`;
  });
  return {
    id: 'changes',
    title: 'Changes outside of the run',
    body: [
      rows.length === 0
        ? null
        : table('Changes', ['Target', 'Tool', 'State', 'Delegation', 'Reason'], rows),
      patch,
    ],
  };
}

export function renderFacts({ facts }: RunPage): Section | null {
  if (facts.length === 0) return null;
  const rows = facts.map(
    (one) =>
      markup`<tr>
        <th scope="row">${one.fact_id}</th>
        <td class="text">${one.statement}</td>
        <td>${one.confidence}</td>
        <td>${one.source_refs.join(', ')}</td>
        <td>${one.superseded_by ?? ''}</td>
      </tr>`,
  );
  const body = table('Facts', ['Id', 'Fact', 'Confidence', 'Sources', 'Replaced by'], rows);
  return { id: 'facts', title: 'Facts', body: fold(countOf(facts.length, 'fact'), body) };
}
