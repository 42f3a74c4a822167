import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { PageConversation, PageTurn, PageWork } from '../../contracts/run-page.ts';
import type { ContentBlock } from '../../contracts/transcript.ts';
import type { Usage } from '../../contracts/usage.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import { countOf, formatTokens, formatCost, formatTurns } from '../../core/text/format.ts';
import { listConversations, toneOf } from './draw-timeline.ts';
import { anchor, markup, type Html, type Part, type TextShelf } from './markup.ts';
import { renderMarkdown } from './render-markdown.ts';

/** Shows a state as a word on a coloured ground. */
export function badge(state: string): Html {
  return markup`<span class="badge ${toneOf(state)}">${state.replaceAll('_', ' ')}</span>`;
}

/** Shows something that is read only when it is wanted. */
export function fold(summary: Part, body: Part, id: string | null = null): Html {
  const named = id === null ? null : markup` id="${id}"`;
  return markup`<details${named}><summary>${summary}</summary><div class="body">${body}</div></details>`;
}

/** Title of a column, or that of a column of numbers. */
type Column = string | { readonly numbers: string };

/** Shows a table that scrolls sideways on its own. @param label Name of the table for screen readers. */
export function table(
  label: string,
  columns: readonly Column[],
  rows: readonly Html[],
  classes = 'wide',
): Html {
  const heads = columns.map((column) =>
    typeof column === 'string'
      ? markup`<th scope="col">${column}</th>`
      : markup`<th scope="col" class="num">${column.numbers}</th>`,
  );
  return markup`<div class="${classes}" role="region" aria-label="${label}" tabindex="0">
    <table>
      <thead>
        <tr>
          ${heads}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

export function markdown(shelf: TextShelf, text: string, depth = 4): Html {
  return shelf.show(text, (shown) => renderMarkdown(shown, depth));
}

/** Adds up what was used for work. Null where no model was called for it. */
export function usageOfWork(work: PageWork): PageWork['usage'] {
  if (work.usage !== null) return hasCalls(work.usage) ? work.usage : null;
  const turns = listConversations(work).flatMap((one) => one.turns);
  return turns.length === 0 ? null : addUsage(...turns.map((turn) => turn.usage));
}

/** Tells work that was done from work that was skipped, or that another run paid for. */
export function hasCalls({ calls, unreported_calls }: Usage): boolean {
  return calls + unreported_calls > 0;
}

/** Shows a delegation, a phase or a task with everything that belongs to it, folded. */
export function renderWork(work: PageWork, shelf: TextShelf, level: 3 | 4 | 5 = 3): Html {
  const { work_id, kind, agent_id, title, state, parts, conversations } = work;
  const usage = usageOfWork(work);
  const who =
    kind === 'agent' || kind === 'task'
      ? agent_id
      : `${kind}${agent_id === '' ? '' : `, ${agent_id}`}`;
  const summary = markup`${badge(state)} ${heading(level, title)}
    <span class="quiet"
      ><code>${work_id}</code> · ${who}${usage === null ? '' : ` · ${formatTurns(usage)}`}</span
    >`;
  const below = level === 3 ? 4 : 5;
  const body = [
    work.reason === '' ? null : markup`<p><strong>Why:</strong> ${work.reason}</p>`,
    renderTask(work, shelf),
    work.output === null ? null : renderOutput(work_id, work.output, shelf),
    work.record === null ? null : fold('Who said and claimed what', markdown(shelf, work.record)),
    work.diff === null || work.diff === ''
      ? null
      : fold('Changes of files', renderDiff(work.diff, shelf)),
    ...parts.map((part) => renderWork(part, shelf, below)),
    ...renderConversations(conversations, shelf),
  ];
  return markup`<div class="unit">${fold(summary, body, anchor('work', work_id))}</div>`;
}

function heading(level: 3 | 4 | 5, title: string): Html {
  if (level === 3) return markup`<h3>${title}</h3>`;
  return level === 4 ? markup`<h4>${title}</h4>` : markup`<h5>${title}</h5>`;
}

function renderTask({ task, criteria, inputs, depends_on }: PageWork, shelf: TextShelf): Part {
  return [
    task === null ? null : fold('Task', markdown(shelf, task)),
    inputs.length + depends_on.length === 0
      ? null
      : markup`<p>
          <strong>Inputs:</strong>
          ${inputs.length === 0 ? 'none' : inputs.join(', ')}${depends_on.length === 0 ? null : markup`; <strong>after</strong> ${depends_on.map((id, at) => markup`${at === 0 ? '' : ', '}<a href="#${anchor('work', id)}">${id}</a>`)}`}
        </p>`,
    criteria.length === 0
      ? null
      : fold(
          countOf(criteria.length, 'criterion', 'criteria'),
          markup`<ul>
            ${criteria.map((one) => markup`<li><code>${one.criterion_id}</code> ${one.description}</li>`)}
          </ul>`,
        ),
  ];
}

function renderOutput(workId: string, output: AgentOutput, shelf: TextShelf): Part {
  const { compact_md, detailed_md, assumptions_made, blocking_questions, effects_claimed } = output;
  const { optional_questions, facts } = output;
  const questions = [...blocking_questions, ...optional_questions];
  return [
    markup`<div id="${anchor('result', workId)}">
      <p><strong>Result</strong> (${output.status})</p>
      ${markdown(shelf, compact_md)}
    </div>`,
    fold('Whole result', markdown(shelf, detailed_md)),
    items(
      'Assumptions',
      assumptions_made.map((one) => `${one.statement} (${one.confidence})`),
    ),
    items(
      'Questions of the agent',
      questions.map((one) => `${one.priority}: ${one.text}`),
    ),
    items(
      'Facts',
      facts.map(({ key, value }) => `${key}: ${value}`),
    ),
    items('Claimed changes', effects_claimed),
  ];
}

function items(name: string, texts: readonly string[]): Part {
  if (texts.length === 0) return null;
  return fold(
    `${name} (${texts.length})`,
    markup`<ul>
      ${texts.map((text) => markup`<li>${text}</li>`)}
    </ul>`,
  );
}

/** Shows a patch with added and removed lines apart. */
export function renderDiff(patch: string, shelf: TextShelf): Html {
  return shelf.show(patch, (shown) => {
    const lines = shown.split('\n').map((line) => {
      const kind = line.startsWith('+') ? 'ins' : line.startsWith('-') ? 'del' : null;
      // A value, because a break in the markup would not be kept.
      const text = `${line}\n`;
      return kind === null ? markup`${text}` : markup`<span class="${kind}">${text}</span>`;
    });
    return markup`<pre class="diff">${lines}</pre>`;
  });
}

export function renderConversations(
  conversations: readonly PageConversation[],
  shelf: TextShelf,
): readonly Html[] {
  return conversations.map((one) => {
    const { agent_id, member, stage, turns, system } = one;
    const name = member === null ? agent_id : `${member} (${agent_id})`;
    const usage = addUsage(...turns.map((turn) => turn.usage));
    const summary = markup`Conversation: <strong>${name}</strong>
      <span class="quiet">${stage.replaceAll('_', ' ')} · ${formatTurns(usage)}</span>`;
    const results = listResults(turns);
    return fold(summary, [
      system.length === 0
        ? null
        : fold(
            'System text, as this version of planwave words it',
            system.map((text) => shelf.pre(text)),
          ),
      ...turns.map((turn, at) => renderTurn(turn, at + 1, results, shelf)),
    ]);
  });
}

type Results = ReadonlyMap<string, Extract<ContentBlock, { type: 'tool_result' }>>;

function listResults(turns: readonly PageTurn[]): Results {
  return new Map(
    turns.flatMap(({ sent }) =>
      sent.flatMap((block) =>
        block.type === 'tool_result' ? [[block.tool_use_id, block] as const] : [],
      ),
    ),
  );
}

function renderTurn(turn: PageTurn, number: number, results: Results, shelf: TextShelf): Html {
  const { begun_at, ended_at, attempt, model, request_id, usage, reply_type, sent, reply } = turn;
  const took =
    ended_at === null ? 'no reply recorded' : `${((ended_at - begun_at) / 1_000).toFixed(1)} s`;
  const facts = [
    reply_type === null ? null : reply_type.replaceAll('_', ' '),
    took,
    formatTokens(usage),
    formatCost(usage),
    attempt === 1 ? null : `attempt ${attempt}`,
  ].filter((fact) => fact !== null);
  const told = sent.filter((block) => block.type !== 'tool_result');
  return fold(markup`Turn ${number} <span class="quiet">${facts.join(' · ')}</span>`, [
    markup`<p class="quiet">
      ${new Date(begun_at).toISOString()} ·
      ${model}${request_id === null ? '' : ` · request ${request_id}`}
    </p>`,
    told.length === 0
      ? null
      : fold(
          number === 1 ? 'Prompt' : 'Sent',
          told.map((block) => renderBlock(block, results, shelf)),
        ),
    ...reply.map((block) => renderBlock(block, results, shelf)),
  ]);
}

function renderBlock(block: ContentBlock, results: Results, shelf: TextShelf): Html {
  switch (block.type) {
    case 'text':
      return shelf.pre(block.text);
    case 'tool_use': {
      const result = results.get(block.id);
      return fold(
        markup`Tool call:
          <strong>${block.name}</strong>${result?.is_error === true ? ' (refused or failed)' : ''}`,
        [
          shelf.pre(JSON.stringify(block.input, null, 2) ?? ''),
          result === undefined
            ? markup`<p class="quiet">No result is recorded.</p>`
            : markup`<p><strong>Result</strong></p>
                ${shelf.pre(result.content)}`,
        ],
      );
    }
    case 'tool_result':
      return shelf.pre(block.content);
    case 'opaque':
      return markup`<p class="quiet">A block that only the provider reads, such as thinking.</p>`;
  }
}
