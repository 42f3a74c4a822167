/** A part of a text that is a secret. */
export interface Span {
  /** Offset in UTF-16 code units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** The rule that found it, named in the mark. */
  readonly rule: string;
}

/** Returns the mark that replaces a secret. */
export const markOf = (rule: string): string => `[redacted:${rule}]`;

const anyMark = /\[redacted:[a-z0-9-]{1,60}\]/g;

/**
 * Joins spans that overlap or touch, under the rule of the span that begins first (the longest of them), and leaves
 * existing marks unchanged. Sorted.
 */
export function settleSpans(text: string, spans: readonly Span[]): readonly Span[] {
  if (spans.length === 0) return spans;
  const joined: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = joined.at(-1);
    if (last === undefined || span.start > last.end) joined.push(span);
    else joined[joined.length - 1] = { ...last, end: Math.max(last.end, span.end) };
  }
  return text.includes('[redacted:') ? leaveOutMarks(text, joined) : joined;
}

function leaveOutMarks(text: string, spans: readonly Span[]): Span[] {
  const marks = [...text.matchAll(anyMark)].map(({ index, 0: mark }) => ({
    start: index,
    end: index + mark.length,
  }));
  let next = 0;
  return spans.flatMap((span) => {
    const rest: Span[] = [];
    let { start } = span;
    // Both lists are sorted, so each mark is read once.
    while ((marks[next]?.end ?? Infinity) <= start) next += 1;
    for (; (marks[next]?.start ?? Infinity) < span.end; next += 1) {
      const mark = marks[next];
      if (mark === undefined) break;
      if (mark.start > start) rest.push({ ...span, start, end: mark.start });
      start = mark.end;
      if (mark.end > span.end) break;
    }
    return start < span.end ? [...rest, { ...span, start }] : rest;
  });
}

/**
 * @param spans Sorted and without overlaps, as `settleSpans` returns them.
 * @param keepsLines True to put a mark into each line of a span, so that every other line keeps its number.
 */
export function replaceSpans(text: string, spans: readonly Span[], keepsLines = false): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, rule } of spans) {
    const lines = keepsLines ? text.slice(start, end).split('\n').length : 1;
    parts.push(text.slice(at, start), Array(lines).fill(markOf(rule)).join('\n'));
    at = end;
  }
  return [...parts, text.slice(at)].join('');
}
