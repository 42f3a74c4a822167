import { markup, type Html } from './markup.ts';

/**
 * Shows Markdown as HTML: headings, lists, tables, quotations, code, emphasis. Everything else, such as HTML, pictures and
 * links, is shown as it was written: nothing is loaded, and no link hides where it leads.
 *
 * @param depth Level of the heading above it: its own headings are below.
 */
export function renderMarkdown(text: string, depth = 2): Html {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const blocks: Html[] = [];
  let at = 0;
  while (at < lines.length) {
    const block = readBlock(lines, at, depth);
    if (block.html !== null) blocks.push(block.html);
    at = block.next;
  }
  return markup`<div class="md" dir="auto">${blocks}</div>`;
}

interface Block {
  readonly html: Html | null;
  readonly next: number;
}

function readBlock(lines: readonly string[], at: number, depth: number): Block {
  const line = lines[at] ?? '';
  const trimmed = line.trim();
  if (trimmed === '') return { html: null, next: at + 1 };
  const [fence] = /^(?:`{3,}|~{3,})/.exec(trimmed) ?? [];
  if (fence !== undefined) return readCode(lines, at, fence);
  const [whole, marks = ''] = /^(#{1,6}) /.exec(trimmed) ?? [];
  if (whole !== undefined) {
    return { html: renderHeading(marks, trimmed.slice(whole.length), depth), next: at + 1 };
  }
  return readMarked(lines, at, depth);
}

function readMarked(lines: readonly string[], at: number, depth: number): Block {
  const line = lines[at] ?? '';
  const trimmed = line.trim();
  if (/^(?:-{3,}|\*{3,}|_{3,})$/.test(trimmed)) return { html: markup`<hr>`, next: at + 1 };
  if (isRow(trimmed) && isRule(lines[at + 1] ?? '')) return readTable(lines, at);
  if (trimmed.startsWith('>')) return readQuotation(lines, at, depth);
  return isItem(line) ? readList(lines, at) : readParagraph(lines, at);
}

function renderHeading(marks: string, text: string, depth: number): Html {
  const level = Math.min(6, marks.length + depth);
  const body = renderInline(text);
  switch (level) {
    case 3:
      return markup`<h3>${body}</h3>`;
    case 4:
      return markup`<h4>${body}</h4>`;
    case 5:
      return markup`<h5>${body}</h5>`;
    default:
      return markup`<h6>${body}</h6>`;
  }
}

function readCode(lines: readonly string[], at: number, fence: string): Block {
  const end = lines.findIndex((line, index) => index > at && line.trim().startsWith(fence));
  const last = end === -1 ? lines.length : end;
  const code = lines.slice(at + 1, last).join('\n');
  return { html: markup`<pre>${code}</pre>`, next: last + 1 };
}

function isRow(line: string): boolean {
  return line.startsWith('|') && line.length > 1;
}

function isRule(line: string): boolean {
  const trimmed = line.trim();
  return isRow(trimmed) && trimmed.includes('-') && /^[|: -]*$/.test(trimmed);
}

function readTable(lines: readonly string[], at: number): Block {
  let next = at + 2;
  while (isRow((lines[next] ?? '').trim())) next += 1;
  const head = splitRow(lines[at] ?? '');
  const rows = lines.slice(at + 2, next).map(splitRow);
  return {
    html: markup`<div class="wide">
      <table>
        <thead>
          <tr>
            ${head.map((cell) => markup`<th scope="col">${renderInline(cell)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              markup`<tr>
                ${row.map((cell) => markup`<td>${renderInline(cell)}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`,
    next,
  };
}

function splitRow(line: string): readonly string[] {
  const trimmed = line.trim();
  const inner = trimmed.slice(1, trimmed.endsWith('|') ? -1 : undefined);
  return inner.split('|').map((cell) => cell.trim());
}

function readQuotation(lines: readonly string[], at: number, depth: number): Block {
  let next = at;
  while ((lines[next] ?? '').trim().startsWith('>')) next += 1;
  const inner = lines.slice(at, next).map((line) => line.trim().replace(/^> ?/, ''));
  // A quotation within a quotation is shown with its marks.
  const body = inner.some((line) => line.trim().startsWith('>'))
    ? markup`<pre dir="auto">${inner.join('\n')}</pre>`
    : renderMarkdown(inner.join('\n'), depth);
  return { html: markup`<blockquote>${body}</blockquote>`, next };
}

function isItem(line: string): boolean {
  return /^\s{0,12}(?:[-*+]|\d{1,9}[.)]) /.test(line);
}

/** Reads a list as one level, with the depth of each entry as a class: a nested list of a model is rarely well formed. */
function readList(lines: readonly string[], at: number): Block {
  const items: { depth: number; text: string }[] = [];
  let next = at;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? '';
    if (line.trim() === '') break;
    const last = items.at(-1);
    if (isItem(line)) {
      const indent = line.length - line.trimStart().length;
      const text = line.trimStart();
      const bullet = /^[-*+] /.test(text);
      items.push({
        depth: Math.min(3, Math.floor(indent / 2)),
        text: bullet ? text.slice(2) : text,
      });
    } else if (last !== undefined) last.text += `\n${line.trim()}`;
  }
  const isNumbered = /^\s*\d/.test(lines[at] ?? '');
  const rows = items.map(
    ({ depth, text }) => markup`<li class="in${depth}">${renderInline(text)}</li>`,
  );
  return { html: markup`<ul${isNumbered ? markup` class="numbered"` : null}>${rows}</ul>`, next };
}

function readParagraph(lines: readonly string[], at: number): Block {
  let next = at + 1;
  while (next < lines.length && !startsBlock(lines[next] ?? '')) next += 1;
  return { html: markup`<p>${renderInline(lines.slice(at, next).join('\n'))}</p>`, next };
}

function startsBlock(line: string): boolean {
  const trimmed = line.trim();
  return trimmed === '' || /^(?:`{3}|~{3}|#{1,6} |>|\|)/.test(trimmed) || isItem(line);
}

/** Shows code and emphasis within a line; a mark without its partner stays as it is. */
function renderInline(text: string): readonly Html[] {
  const parts = text.split('`');
  // An odd number of marks: the last one has no partner.
  const isOpen = parts.length % 2 === 0;
  return parts.map((part, at) => {
    if (at % 2 === 0) return renderEmphasis(part);
    return isOpen && at === parts.length - 1
      ? markup`\`${renderEmphasis(part)}`
      : markup`<code>${part}</code>`;
  });
}

function renderEmphasis(text: string): Html {
  const parts = text.split('**');
  if (parts.length % 2 === 0) return markup`${text}`;
  return markup`${parts.map((part, at) => (at % 2 === 0 ? markup`${part}` : markup`<strong>${part}</strong>`))}`;
}
