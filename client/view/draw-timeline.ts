/**
 * Draws a run over time as SVG: a row for the user, for each wave, delegation, phase, task and member, and a bar for each
 * call.
 *
 * Invariants:
 *   VW1. The picture loads nothing, and its colours follow the page.
 *   VW2. Long times in which nobody worked take little room and are marked, so that the work stays visible.
 *   VW3. A run with very many parts is drawn with fewer levels, and never with fewer delegations.
 */
import type { PageConversation, PageWork, RunPage } from '../../contracts/run-page.ts';
import { cleanLine } from '../../core/text/cut-text.ts';
import { countOf, formatDuration } from '../../core/text/format.ts';
import { anchor, markup, type Html } from './markup.ts';

interface Span {
  /** Unix epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly title: string;
}

interface Row {
  /** 0: the user, a wave. 1: a delegation. 2: its parts. 3: members. */
  readonly level: number;
  readonly label: string;
  /** Id of the element that tells more. */
  readonly target: string;
  readonly tone: 'user' | 'planner' | 'good' | 'bad' | 'work';
  readonly spans: readonly Span[];
  readonly work: PageWork | null;
}

const rowHeight = 22;
const labelWidth = 248;
const chartWidth = 860;
const axisHeight = 26;
const labelChars = 36;
/** Rows beyond which the deepest levels are left out. */
const rowsMax = 300;
const arrowsMax = 200;

export function drawTimeline(page: RunPage): Html {
  const all = listRows(page);
  const level = [3, 2].find((max) => all.filter((row) => row.level <= max).length <= rowsMax) ?? 1;
  const rows = all.filter((row) => row.level <= level);
  const scale = createScale(page, rows);
  const height = axisHeight + rows.length * rowHeight + 8;
  const width = labelWidth + chartWidth + 10;
  const head = `${countOf(page.waves.length, 'wave')}, ${countOf(all.filter((row) => row.level === 1).length, 'delegation')}`;
  return markup`<svg
    class="timeline"
    width="${width}"
    height="${height}"
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-labelledby="tl-title tl-desc"
  >
    <title id="tl-title">The run over time</title>
    <desc id="tl-desc">
      ${head}, from ${toIso(scale.from)} to ${toIso(scale.to)}. The table below has the same.
    </desc>
    ${drawAxis(scale, height)}${drawArrows(rows, scale)}${rows.map((row, at) => drawRow(row, at, scale))}
  </svg>`;
}

function listRows(page: RunPage): readonly Row[] {
  const { waves, design, open_questions: open, answered_questions: answered } = page;
  const now = page.updated_at * 1_000;
  const asked = [
    ...answered.flatMap((one) =>
      one.question === null || one.answered_by !== 'user'
        ? []
        : [toQuestionSpan(one.question_id, one.question.asked_at * 1_000, one.answered_at * 1_000)],
    ),
    ...open.map((one) => toQuestionSpan(one.question_id, one.asked_at * 1_000, now)),
  ];
  const user: Row = {
    level: 0,
    label: 'You',
    target: 'questions',
    tone: 'user',
    spans: asked,
    work: null,
  };
  return [
    ...(asked.length === 0 ? [] : [user]),
    ...(design === null ? [] : [toPlanner('Design', 'design', design.conversations)]),
    ...waves.flatMap(({ wave, conversations, work }) => [
      toPlanner(nameWave(wave, conversations), `wave-${wave}`, conversations),
      ...work.flatMap((one) => toWorkRows(one, 1)),
    ]),
  ];
}

function toQuestionSpan(id: string, from: number, to: number): Span {
  return { from, to, title: `Question ${id}, ${formatDuration(Math.round((to - from) / 1_000))}` };
}

/** A part that was started alone has no planner, and neither has a wave that was taken over. */
const nameWave = (wave: number, planned: readonly PageConversation[]): string =>
  planned.length === 0 ? `Wave ${wave}` : `Wave ${wave}: planner`;

function toPlanner(label: string, target: string, conversations: readonly PageConversation[]): Row {
  return { level: 0, label, target, tone: 'planner', spans: toSpans(conversations), work: null };
}

function toWorkRows(work: PageWork, level: number): readonly Row[] {
  const { work_id, title, state, conversations, parts } = work;
  const target = anchor('work', work_id);
  const tone = toneOf(state);
  const members = conversations.filter(({ member }) => member !== null);
  return [
    { level, label: title, target, tone, spans: toSpans(listConversations(work)), work },
    ...parts.flatMap((part) => toWorkRows(part, level + 1)),
    ...members.map((one): Row => {
      const label = one.member ?? one.agent_id;
      return { level: level + 1, label, target, tone, spans: toSpans([one]), work: null };
    }),
  ];
}

export function listConversations({ conversations, parts }: PageWork): readonly PageConversation[] {
  return [...conversations, ...parts.flatMap(listConversations)];
}

const goodStates: ReadonlySet<string> = new Set(['completed', 'done', 'decided', 'approved']);
const badStates: ReadonlySet<string> = new Set(['failed', 'timed_out', 'lost', 'unverified']);

export function toneOf(state: string): 'good' | 'bad' | 'work' {
  if (goodStates.has(state)) return 'good';
  return badStates.has(state) ? 'bad' : 'work';
}

function toSpans(conversations: readonly PageConversation[]): readonly Span[] {
  return conversations.flatMap(({ agent_id, member, turns }) =>
    turns.map(({ begun_at, ended_at }, at) => {
      const to = ended_at ?? begun_at;
      const who = member === null ? agent_id : `${member} (${agent_id})`;
      return {
        from: begun_at,
        to,
        title: `${who}, turn ${at + 1}, ${((to - begun_at) / 1_000).toFixed(1)} s`,
      };
    }),
  );
}

interface Scale {
  readonly from: number;
  readonly to: number;
  readonly x: (time: number) => number;
  /** Times that are drawn shorter than they were. */
  readonly pauses: readonly { readonly from: number; readonly to: number }[];
}

function createScale({ started_at, updated_at }: RunPage, rows: readonly Row[]): Scale {
  const spans = rows.filter(({ tone }) => tone !== 'user').flatMap((row) => row.spans);
  const times = rows.flatMap((row) => row.spans).flatMap(({ from, to }) => [from, to]);
  const from = times.reduce((a, b) => Math.min(a, b), started_at * 1_000);
  const to = times.reduce((a, b) => Math.max(a, b), Math.max(updated_at * 1_000, from + 1));
  const gaps = listGaps(spans, from, to);
  const busy = to - from - gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  const pauseMs = Math.max(2_000, busy * 0.15);
  const pauses = gaps.filter((gap) => gap.to - gap.from > pauseMs);
  /** Milliseconds of the drawn axis at a time. */
  const toDrawn = (time: number): number =>
    pauses.reduce((drawn, pause) => {
      const inside = Math.min(Math.max(time - pause.from, 0), pause.to - pause.from);
      return drawn - inside + (inside / (pause.to - pause.from)) * pauseMs;
    }, time - from);
  const whole = Math.max(1, toDrawn(to));
  const x = (time: number): number => round(labelWidth + (toDrawn(time) / whole) * chartWidth);
  return { from, to, x, pauses };
}

function listGaps(spans: readonly Span[], from: number, to: number): Scale['pauses'] {
  const gaps: { from: number; to: number }[] = [];
  let end = from;
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    if (span.from > end) gaps.push({ from: end, to: span.from });
    end = Math.max(end, span.to);
  }
  if (to > end) gaps.push({ from: end, to });
  return gaps;
}

function drawAxis({ from, to, x, pauses }: Scale, height: number): Html {
  const marks = pauses
    .filter((pause) => x(pause.to) - x(pause.from) > 30)
    .map((pause) => {
      const left = x(pause.from);
      const seconds = Math.round((pause.to - pause.from) / 1_000);
      return markup`<rect
          class="pause"
          x="${left}"
          y="${axisHeight - 6}"
          width="${round(x(pause.to) - left)}"
          height="${height - axisHeight}"
        /><text
          class="small"
          x="${round((left + x(pause.to)) / 2)}"
          y="${axisHeight - 10}"
          text-anchor="middle"
          >${formatDuration(seconds)}</text
        >`;
    });
  const isClear = pauses.every((pause) => x(pause.to) < labelWidth + chartWidth - 90);
  const end = isClear
    ? markup`<text
        class="small"
        x="${labelWidth + chartWidth}"
        y="${axisHeight - 10}"
        text-anchor="end"
        >${formatDuration(Math.max(1, Math.round((to - from) / 1_000)))}</text
      >`
    : null;
  return markup`${marks}<line
      class="axis"
      x1="${labelWidth}"
      y1="${axisHeight - 6}"
      x2="${labelWidth + chartWidth}"
      y2="${axisHeight - 6}"
    />${end}`;
}

function drawRow(row: Row, at: number, { x, from, to }: Scale): Html {
  const { level, label, target, tone, spans } = row;
  const y = axisHeight + at * rowHeight;
  const begin = spans.reduce((least, span) => Math.min(least, span.from), to);
  const end = spans.reduce((most, span) => Math.max(most, span.to), from);
  const ground =
    spans.length === 0
      ? null
      : markup`<rect
          class="ground ${tone}"
          x="${x(begin)}"
          y="${y + 3}"
          width="${spanWidth(x(begin), x(end))}"
          height="14"
          rx="3"
        />`;
  const bars = spans.map(
    (span) =>
      markup`<rect
        class="bar ${tone}"
        x="${x(span.from)}"
        y="${y + 5}"
        width="${spanWidth(x(span.from), x(span.to))}"
        height="10"
        rx="2"
        ><title>${span.title}</title></rect
      >`,
  );
  const text = cleanLine(label, labelChars - 2 * level);
  return markup`<a href="#${target}" tabindex="-1"
    ><text class="label level${level}" x="${6 + level * 14}" y="${y + 14}"
      >${text}<title>${label}</title></text
    >${ground}${bars}</a
  >`;
}

/** Draws a line from what a delegation needs to itself. */
function drawArrows(rows: readonly Row[], { x }: Scale): readonly Html[] {
  const places = new Map(
    rows.flatMap(({ work, level, spans }, at) =>
      work === null || level !== 1 || spans.length === 0
        ? []
        : [[work.work_id, { spans, y: axisHeight + at * rowHeight + 10 }] as const],
    ),
  );
  const arrows = rows.flatMap(({ work, level }) => {
    const end = work === null || level !== 1 ? undefined : places.get(work.work_id);
    if (work === null || end === undefined) return [];
    return work.depends_on.flatMap((id) => {
      const start = places.get(id);
      if (start === undefined) return [];
      const x1 = x(Math.max(...start.spans.map((span) => span.to)));
      const x2 = x(Math.min(...end.spans.map((span) => span.from)));
      return [
        markup`<path
          class="arrow"
          d="M${x1} ${start.y} C${x1 + 14} ${start.y} ${x2 - 14} ${end.y} ${x2} ${end.y}"
        />`,
      ];
    });
  });
  return arrows.slice(0, arrowsMax);
}

function spanWidth(left: number, right: number): number {
  return Math.max(2, round(right - left));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function toIso(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
