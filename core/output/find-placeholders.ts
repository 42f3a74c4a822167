/**
 * Finds places of a text that were left to be written.
 *
 * Invariants:
 *   PH1. A line or a table cell with nothing but a placeholder is one, and so is a text of a few words that contains
 *        one. A cell that refers to another place is none: its row says the rest.
 *   PH2. A heading without a text below it, or a lower heading, is an empty section.
 *   PH3. Code, and a sentence about a placeholder, are none.
 *   PH4. Each fault names its line and its heading.
 */
import type { OutputFault } from '../../contracts/output-fault.ts';
import { cleanLine, normaliseText } from '../text/cut-text.ts';
import { readMarkdown, titleOfHeading } from '../text/markdown.ts';
import type { MarkdownLine } from '../text/markdown.ts';

/** Normalised words that stand for a text to come. */
const placeholders: ReadonlySet<string> = new Set([
  'todo',
  'to do',
  'tbd',
  'tba',
  'tbc',
  'fixme',
  'to be done',
  'to be determined',
  'to be defined',
  'to be added',
  'to be written',
  'to be completed',
  'to be filled in',
  'coming soon',
  'placeholder',
  'lorem ipsum',
  'lorem ipsum dolor sit amet',
]);

/** Words that refer to another place, normalised. Alone on a line it stands for a text that is missing. */
const references: ReadonlySet<string> = new Set([
  'see above',
  'see below',
  'as above',
  'as described above',
  'as described earlier',
  'as discussed above',
  'as mentioned above',
]);

/** Most characters of a placeholder and the characters around it. */
const placeholderCharsMax = 60;

/** Most words of a text that consists of a placeholder and adds nothing. */
const fewWords = 6;

/** Most faults of one text: enough to show the problem. */
const shownMax = 5;

/** Characters of the heading and the line that a fault quotes. */
const quotedCharsMax = 80;

const hint =
  'Try: write what belongs there; or leave the place out, and list the criterion that rests on it in criteria_unmet';

/** @param path Path of the text, for the faults. */
export function findPlaceholders(text: string, path: string): OutputFault[] {
  const lines = readMarkdown(text);
  if (isOnlyPlaceholder(lines)) {
    const said = JSON.stringify(cleanLine(text, quotedCharsMax));
    return [{ path, reason: `the whole text is a placeholder: ${said}`, hint }];
  }
  const faults: OutputFault[] = [];
  let heading: MarkdownLine | null = null;
  let isEmpty = false;
  const endSection = (next: MarkdownLine | null): void => {
    if (heading === null || !isEmpty) return;
    if (next !== null && next.level > heading.level) return;
    const reason = `line ${heading.number}: the section ${quote(titleOfHeading(heading))} is empty`;
    faults.push({ path, reason, hint });
  };
  for (const line of lines) {
    if (line.level > 0) {
      endSection(line);
      heading = line;
      isEmpty = true;
    } else if (line.text.trim() !== '') {
      isEmpty = false;
      const found = line.isCode ? undefined : findPlaceholder(line.text);
      if (found !== undefined) {
        const under = heading === null ? '' : `, under ${quote(titleOfHeading(heading))}`;
        faults.push({
          path,
          reason: `line ${line.number}${under}: only a placeholder, ${quote(found)}`,
          hint,
        });
      }
    }
  }
  endSection(null);
  return faults.slice(0, shownMax);
}

/** Looks at the cells of a table's row, or at the line itself without the mark of a list or a quotation. */
function findPlaceholder(line: string): string | undefined {
  const text = line.trim().replace(/^(?:[-*+>]|\d{1,9}[.)])\s+/u, '');
  if (text.startsWith('|')) return text.split('|').find((cell) => isOneOf(placeholders, cell));
  return isOneOf(placeholders, text) || isOneOf(references, text) ? text : undefined;
}

/** Returns true for a short text, such as a title, that is only a placeholder or only punctuation. */
export function isPlaceholder(text: string): boolean {
  return isOneOf(placeholders, text) || /^[\p{P}\s]+$/u.test(text);
}

/** Returns true for a cell that is only a placeholder. Words in back quotes are mentioned, not left open. */
function isOneOf(phrases: ReadonlySet<string>, text: string): boolean {
  if (text.trim().length > placeholderCharsMax) return false;
  return !text.includes('`') && phrases.has(normaliseText(text).trim());
}

function isOnlyPlaceholder(lines: readonly MarkdownLine[]): boolean {
  const said = lines.filter(({ level, text }) => level === 0 && text.trim() !== '');
  if (said.length > fewWords) return false;
  if (said.some(({ isCode }) => isCode)) return false;
  const text = said.map((line) => line.text).join(' ');
  const words = normaliseText(text)
    .trim()
    .split(' ')
    .slice(0, fewWords + 1);
  if (text.includes('`') || words.length > fewWords) return false;
  const spoken = ` ${words.join(' ')} `;
  return [...placeholders, ...references].some((one) => spoken.includes(` ${one} `));
}

function quote(text: string): string {
  return JSON.stringify(cleanLine(text, quotedCharsMax));
}
