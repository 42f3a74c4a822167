/**
 * Shows a run as one HTML page: the answer, what waits for the user, the criteria with their evidence, the run over time,
 * and everything that was done for it.
 *
 * Invariants:
 *   VP1. The page is complete in itself: it names no address that a browser loads by itself.
 *   VP2. The answer comes first, except for what waits for the user.
 *   VP3. Each criterion links to what its evidence names.
 *   VP4. The same page is rendered in the same bytes.
 */
import type { RunPage } from '../../contracts/run-page.ts';
import type { Usage } from '../../contracts/usage.ts';
import {
  countOf,
  formatCost,
  formatDuration,
  formatTokens,
  formatUsage,
} from '../../core/text/format.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import { formatTime } from '../format-time.ts';
import { drawTimeline, listConversations } from './draw-timeline.ts';
import { anchor, createShelf, markup, Html, type Part, type TextShelf } from './markup.ts';
import { contentPolicy, script, style } from './page-style.ts';
import { renderQuestion, type Live, type LivePage } from './render-question.ts';
import {
  renderAnswered,
  renderCriteria,
  renderEffects,
  renderFacts,
  renderTold,
  type Section,
} from './render-sections.ts';
import {
  badge,
  fold,
  markdown,
  renderConversations,
  hasCalls,
  renderWork,
  usageOfWork,
  table,
} from './render-work.ts';

/** @param live Null for a file. */
export function renderPage(page: RunPage, live: LivePage | null): string {
  const shelf = createShelf();
  const sections = [
    renderQuestions(page, live, shelf),
    renderAnswer(page, shelf),
    renderCriteria(page),
    renderTime(page),
    renderWaves(page, shelf),
    renderDesign(page, shelf),
    renderAnswered(page, live, shelf),
    renderEffects(page, shelf),
    renderFacts(page),
  ].filter((section) => section !== null);
  const links = sections.map(({ id, title }) => markup`<li><a href="#${id}">${title}</a></li>`);
  const main = sections.map(
    ({ id, title, body }) =>
      markup`<section id="${id}" aria-labelledby="${id}-h">
        <h2 id="${id}-h">${title}</h2>
        ${body}
      </section>`,
  );
  return renderDocument(page.goal_title, live, [
    markup`<header>
      <p class="quiet">
        ${live === null ? null : markup`<a href="../../">All runs</a> · `}planwave run
        <code>${page.run_id}</code>
      </p>
      <h1>${page.goal_title}</h1>
      ${renderHead(page)}${renderTold(page, live, shelf)}${renderGoal(page, shelf)}
      <nav aria-label="Parts of this page">
        <ul>
          ${links}
        </ul>
      </nav>
    </header>`,
    markup`<main id="main">${main}</main>`,
  ]);
}

/** Puts a page around its parts: head, rules of what it may load, style. */
export function renderDocument(title: string, live: Live | null, parts: Part): string {
  const status =
    live === null
      ? null
      : markup`<p
          id="live"
          role="status"
          aria-live="polite"
          data-events="${live.base}events?version=${live.version}"
        ></p>`;
  const scripted = live === null ? null : markup`<script>${new Html(script)}</script>`;
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${contentPolicy(live !== null)}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="same-origin" />
        <title>${title} · planwave</title>
        <style>${new Html(style)}</style>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        ${parts}
        <footer>
          ${status}
          <p>
            Everything here was read from the logs of runs. What looked like a secret was taken out
            before it was stored.
          </p>
        </footer>
        ${scripted}
      </body>
    </html> `.text;
}

function renderHead(page: RunPage): Html {
  const { status, started_at, updated_at, criteria } = page;
  const facts: readonly (readonly [string, Part])[] = [
    ['State', badge(stateOf(page))],
    ['Started', `${formatTime(started_at)} UTC`],
    status === null
      ? ['Last change', `${formatTime(updated_at)} UTC`]
      : ['Took', formatDuration(Math.max(1, updated_at - started_at))],
    ['Used', formatUsage(usageOf(page))],
    ...(criteria.length === 0 ? [] : [['Criteria', countCriteria(page)] as const]),
  ];
  return markup`<dl class="facts">
    ${facts.map(
      ([name, value]) =>
        markup`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

/** A run that ends well without a verdict on a criterion, such as a design, was not to give one. */
function countCriteria({ criteria, status }: RunPage): string {
  const met = criteria.filter(({ state }) => state !== 'open').length;
  return status === 'completed' && met < criteria.length
    ? `${criteria.length}, not judged in this run`
    : `${met} of ${criteria.length} met or waived`;
}

/** Returns the end of a run; before it, what it does now. */
function stateOf({ status, phase, open_questions, waves, design }: RunPage): string {
  if (status !== null) return status;
  if (open_questions.length > 0) return 'waiting for you';
  return phase === 'intake' && waves.length + (design === null ? 0 : 1) > 0 ? 'working' : phase;
}

/** Adds up the calls of a run that works: its record has those of finished waves only. */
function usageOf({ status, usage, waves, design }: RunPage): Usage {
  if (status !== null) return usage;
  const conversations = waves.flatMap((wave) => [
    ...wave.conversations,
    ...wave.work.flatMap(listConversations),
  ]);
  const turns = [...conversations, ...(design?.conversations ?? [])].flatMap((one) => one.turns);
  return turns.length === 0 ? usage : addUsage(...turns.map((turn) => turn.usage));
}

function renderGoal(
  { goal, goal_title, constraints, instructions }: RunPage,
  shelf: TextShelf,
): Part {
  return [
    goal.trim() === goal_title.trim() ? null : fold('The whole goal', shelf.pre(goal)),
    constraints.length === 0 ? null : fold('Constraints', bullets(constraints)),
    instructions.length === 0 ? null : fold('Instructions given later', bullets(instructions)),
  ];
}

function bullets(texts: readonly string[]): Html {
  return markup`<ul>
    ${texts.map((text) => markup`<li>${text}</li>`)}
  </ul>`;
}

function renderQuestions(
  { run_id, open_questions: open, status }: RunPage,
  live: LivePage | null,
  shelf: TextShelf,
): Section | null {
  // After the end, nothing can be answered: it is listed with the answers.
  if (open.length === 0 || status !== null) return null;
  const title = `${countOf(open.length, 'question')} ${open.length === 1 ? 'waits' : 'wait'} for you`;
  const body = open.map((one) => renderQuestion(run_id, one, live, shelf));
  return { id: 'open', title, body };
}

function renderAnswer({ answer, status }: RunPage, shelf: TextShelf): Section {
  const note = answer.note === '' ? null : markup`<p class="notice">${answer.note}</p>`;
  const none = status === null ? 'There is no answer yet.' : 'There is no answer.';
  const text = answer.text.trim() === '' ? markup`<p>${none}</p>` : markdown(shelf, answer.text, 2);
  return {
    id: 'answer',
    title: 'Answer',
    body: markup`${note}
      <div class="answer">${text}</div>`,
  };
}

function renderTime(page: RunPage): Section | null {
  const { waves, design, open_questions: open, answered_questions: answered } = page;
  // A run that was stopped at once.
  if (design === null && waves.length + open.length + answered.length === 0) return null;
  const rows = waves.flatMap(({ wave, work }) =>
    work.map((one) => {
      const usage = usageOfWork(one);
      return markup`<tr>
        <td class="num">${wave}</td>
        <th scope="row" class="text"><a href="#${anchor('work', one.work_id)}">${one.title}</a></th>
        <td>${one.agent_id}</td>
        <td>${badge(one.state)}</td>
        <td class="num">${usage === null ? '–' : usage.calls}</td>
        <td class="num">${usage === null ? '–' : formatTokens(usage)}</td>
        <td class="num">${usage === null ? '–' : formatCost(usage)}</td>
      </tr>`;
    }),
  );
  const columns = [
    { numbers: 'Wave' },
    'Delegation',
    'Agent',
    'State',
    { numbers: 'Calls' },
    { numbers: 'Tokens' },
    { numbers: 'Cost' },
  ];
  return {
    id: 'time',
    title: 'The run over time',
    body: markup`<div class="scroll" role="region" aria-label="The run over time" tabindex="0">
        ${drawTimeline(page)}
      </div>
      ${rows.length === 0 ? null : table('Delegations', columns, rows, 'wide scroll')}`,
  };
}

/** Delegations from which a browser lays out only those that are seen. */
const lazyMin = 60;

function renderWaves({ waves }: RunPage, shelf: TextShelf): Section | null {
  if (waves.length === 0) return null;
  const isLong = waves.reduce((sum, { work }) => sum + work.length, 0) > lazyMin;
  const body = waves.map(({ wave, status, summary, decision, usage, conversations, work }) => {
    const decided =
      decision === null
        ? null
        : [
            fold('Decision of the planner', [
              markdown(shelf, decision.wave_compact),
              fold('In detail', markdown(shelf, decision.wave_detailed)),
              fold('As JSON', shelf.pre(JSON.stringify(decision.planner_decision, null, 2))),
            ]),
          ];
    return markup`<section id="wave-${wave}" aria-label="Wave ${wave}">
      <p>
        ${badge(status)} <strong>Wave ${wave}</strong>
        <span class="quiet">${hasCalls(usage) ? formatUsage(usage) : null}</span>
      </p>
      ${summary === null ? null : markup`<p>${summary}</p>`}${work.map((one) => renderWork(one, shelf))}${decided}${renderConversations(conversations, shelf)}
    </section>`;
  });
  return {
    id: 'work',
    title: 'Work',
    body: markup`<div class="${isLong ? 'lazy' : ''}">${body}</div>`,
  };
}

function renderDesign({ design }: RunPage, shelf: TextShelf): Section | null {
  if (design === null) return null;
  const { status, plan, usage, conversations } = design;
  const body = [
    markup`<p>${badge(status)} <span class="quiet">${formatUsage(usage)}</span></p>`,
    plan === null ? null : fold('The plan', markdown(shelf, plan)),
    ...renderConversations(conversations, shelf),
  ];
  return { id: 'design', title: 'Design', body };
}
