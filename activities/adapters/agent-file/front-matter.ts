import { isMap, isScalar, type YAMLError } from 'yaml';
import { messageOf } from '../../../core/text/message-of.ts';
import { isTabError, readYaml, toJson } from '../../../core/text/read-yaml.ts';

/** A key of the front matter with its value as plain JSON, and its line. */
export interface FrontMatterEntry {
  readonly value: unknown;
  /** Line in the whole file, from 1. */
  readonly line: number;
}

export interface LineFault {
  readonly line: number;
  readonly reason: string;
}

export interface FrontMatter {
  readonly entries: ReadonlyMap<string, FrontMatterEntry>;
  /** Text after the front matter, without surrounding white space. */
  readonly body: string;
  /** Line of the closing `---`. */
  readonly endLine: number;
}

/** Splits a Markdown file that begins with front matter: YAML between two lines of `---`. */
export function parseFrontMatter(text: string): FrontMatter | { readonly faults: LineFault[] } {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const end = lines.findIndex((line, index) => index > 0 && /^---\s*$/.test(line));
  if (!/^---\s*$/.test(lines[0] ?? '')) {
    return { faults: [{ line: 1, reason: 'expected front matter: the first line must be "---"' }] };
  }
  if (end === -1) {
    return { faults: [{ line: 1, reason: 'the front matter has no end: expected a line "---"' }] };
  }
  const parsed = parseEntries(lines.slice(1, end).join('\n'));
  if ('faults' in parsed) return parsed;
  const body = lines
    .slice(end + 1)
    .join('\n')
    .trim();
  return { entries: parsed.entries, body, endLine: end + 1 };
}

function parseEntries(
  yaml: string,
): Pick<FrontMatter, 'entries'> | { readonly faults: LineFault[] } {
  const { document, errors, placeOf } = readYaml(yaml);
  // One more line for the "---" above.
  const lineAt = (offset: number): number => placeOf(offset).line + 1;
  if (errors.length > 0) {
    return { faults: errors.map((error) => toFault(error, lineAt(error.pos[0]))) };
  }
  const entries = new Map<string, FrontMatterEntry>();
  if (document.contents === null) return { entries };
  if (!isMap(document.contents)) {
    return { faults: [{ line: 2, reason: 'expected lines of the form "key: value"' }] };
  }
  const faults: LineFault[] = [];
  for (const { key, value } of document.contents.items) {
    const name = isScalar(key) ? String(key.value) : '';
    const line = lineAt(isScalar(key) ? (key.range?.[0] ?? 0) : 0);
    try {
      entries.set(name, { value: toJson(value, document), line });
    } catch (error) {
      // A text that begins with "*" is an alias.
      const hint = ' Try: write the value out, or put the text in double quotes.';
      faults.push({ line, reason: `this is no YAML: ${endSentence(messageOf(error))}${hint}` });
    }
  }
  return faults.length > 0 ? { faults } : { entries };
}

function endSentence(text: string): string {
  return text.replace(/\.?$/, '.');
}

function toFault(error: YAMLError, line: number): LineFault {
  const [first = ''] = error.message.split('\n', 1);
  return { line, reason: `this is no YAML: ${endSentence(first)}${adviseOn(error)}` };
}

function adviseOn(error: YAMLError): string {
  if (isTabError(error)) return ' Try: indent with spaces.';
  // The most common mistake: a sentence that contains ": ".
  return error.code === 'BLOCK_AS_IMPLICIT_KEY' ? ' Try: put the text in double quotes.' : '';
}
