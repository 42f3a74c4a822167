/**
 * Builds HTML from texts that anybody may have written.
 *
 * Invariants:
 *   VM1. A text becomes markup nowhere: in an element and in a quoted attribute it is shown as it is.
 *   VM2. Characters that people do not see, or that reorder what they see, are shown by their number.
 *   VM3. A long text that repeats stands on the page once; the other places link to it.
 *   VM4. The texts of one page stay below a limit; what is left out says so, and how long it was.
 */
import { hashText } from '../../core/text/hash-text.ts';
import { cutText } from '../../core/text/cut-text.ts';

/** Finished markup. Only this file makes it of strings. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Part = Html | string | number | null | readonly Part[];

/** Joins literal markup with values: texts are escaped, markup is taken as it is, null is nothing. */
export function markup(literals: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(
    literals
      .map((literal, at) => {
        // Indents of the source are no part of the page.
        const plain = literal.replaceAll(/\n +/g, '\n');
        return at < values.length ? plain + toText(values[at]) : plain;
      })
      .join(''),
  );
}

function toText(value: Part | undefined): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string') return escapeText(value);
  if (typeof value === 'number') return String(value);
  return value.map(toText).join('');
}

/** Controls except tab and line feed, marks of direction, half pairs, and letters without a glyph. */
const unseen =
  /(?![\n\t])\p{Cc}|\p{Bidi_Control}|\p{Cs}|\p{Zl}|\p{Zp}|[\u{e0000}-\u{e007f}\u{feff}]/gu;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(unseen, (character) => {
      const point = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      return `⟨U+${point}⟩`;
    })
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** Returns an id for an element, of an id that may hold anything. */
export function anchor(kind: string, id: string): string {
  return /^[\w.-]{1,80}$/.test(id) ? `${kind}-${id}` : `${kind}-${hashText(id)}`;
}

/** The long texts of one page. */
export interface TextShelf {
  /** Shows a text as it is, in a fixed font. */
  pre(text: string): Html;
  /** Shows a text by `render`, unless it stands on the page already. */
  show(text: string, render: (text: string) => Html): Html;
}

/** Below it, a link would be longer than the text. */
const sharedCharsMin = 400;

/** Characters of one text, and of all texts of a page: a browser still opens 40 MB within seconds. */
const textCharsMax = 400_000;
const pageCharsMax = 40_000_000;

export function createShelf(charsMax: number = pageCharsMax): TextShelf {
  const seen = new Set<string>();
  let left = charsMax;
  const show: TextShelf['show'] = (text, render) => {
    if (text.trim() === '') return markup`<p class="quiet">Empty.</p>`;
    if (text.length < sharedCharsMin) return render(text);
    const id = `text-${hashText(text)}`;
    if (seen.has(id)) {
      return markup`<p class="quiet">
        <a href="#${id}">The same text as above</a>, ${text.length} characters.
      </p>`;
    }
    const max = Math.min(textCharsMax, left);
    if (max < sharedCharsMin) {
      return markup`<p class="quiet">
        Left out, because the page is full: ${text.length} characters.
      </p>`;
    }
    seen.add(id);
    left -= Math.min(text.length, max);
    const cut =
      text.length <= max
        ? null
        : markup`<p class="quiet">Cut: the whole has ${text.length} characters.</p>`;
    return markup`<div id="${id}">${render(cutText(text, max))}${cut}</div>`;
  };
  return {
    show,
    pre: (text) => show(text, (shown) => markup`<pre dir="auto">${shown}</pre>`),
  };
}
