import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import type {
  SecretLintRuleReportDescriptor,
  SecretLintRuleCreator,
  SecretLintSourceCode,
} from '@secretlint/types';
import type { Span } from './span.ts';

/** Matches the beginning of a private key. The text after it decides whether it is one. */
const keyHeader = /-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY/g;
const headerEnd = /(?: BLOCK)?-----/y;
const openHeaderEnd = /(?: BLOCK)?-{0,5}/y;

/** Matches `Proc-Type: `, `Comment: ` and similar fields between the first line and the key. */
const fieldName = /[A-Za-z-]{1,20}: /y;
const fieldValue = /[^\r\n\\]{0,200}/y;
/**
 * Matches field values of a key whose line breaks became spaces: they end before the first word that is long enough for
 * a key.
 */
const flatFieldValue = /[^\r\n\\]{0,200}?(?=\s{1,20}[A-Za-z0-9+/=]{16})/y;
const fieldsMax = 10;

const spaces = /\s*/y;
const escapedLineBreak = /\\[nr]/y;
const lineBreak = /[\r\n\\]/;

const base64 = /[A-Za-z0-9+/=]+/y;
/** Least length of a key's line. Shorter words are its last line, or no part of it. */
const keyLineCharsMin = 16;
const lineEnd = /[ \t]*(?:[\r\n]|\\[nr]|$)/y;
const keyFooter = /-----END[A-Z0-9 ]{0,40}-----/y;

/**
 * Finds private keys, each from its first line to its end: encrypted, with fields before the key, or cut off before its
 * end. Line breaks may be escaped, as in JSON.
 *
 * Reads on piece by piece instead of matching one pattern: a pattern that tries every way to divide a text into fields
 * and their values took time that doubled with every field. A place is read again only for headers that stand inside
 * the fields of another one, and those have a bound.
 */
export function findPrivateKeys(text: string): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (const { index, 0: header } of text.matchAll(keyHeader)) {
    const end = index < from ? undefined : findKeyEnd(text, index + header.length);
    if (end === undefined) continue;
    spans.push({ start: index, end, rule: 'privatekey' });
    from = end;
  }
  return spans;
}

/**
 * Finds the place in a growing text where a private key has begun and not ended.
 *
 * @returns the length of the text when there is none.
 */
export function findOpenPrivateKey(text: string): number {
  for (const { index, 0: header } of text.matchAll(keyHeader)) {
    const at = readAt(openHeaderEnd, text, index + header.length) ?? 0;
    if (skipKey(text, skipFields(text, at)) === text.length) return index;
  }
  return text.length;
}

/** @returns undefined when no key follows. */
function findKeyEnd(text: string, at: number): number | undefined {
  const fields = readAt(headerEnd, text, at);
  const end = fields === undefined ? undefined : readKey(text, skipFields(text, fields));
  return end === undefined ? undefined : (readAt(keyFooter, text, skipGap(text, end)) ?? end);
}

function skipFields(text: string, from: number): number {
  let at = from;
  for (let count = 0; count < fieldsMax; count += 1) {
    const gapEnd = skipGap(text, at);
    const value = gapEnd === at ? undefined : readAt(fieldName, text, gapEnd);
    if (value === undefined) break;
    const isFlat = !lineBreak.test(text.slice(at, gapEnd));
    const flatEnd = isFlat ? readAt(flatFieldValue, text, value) : undefined;
    at = flatEnd ?? readAt(fieldValue, text, value) ?? value;
  }
  return at;
}

/** @returns the end of a key's lines, or undefined when there is none. */
function readKey(text: string, at: number): number | undefined {
  let end: number | undefined;
  for (;;) {
    const from = skipGap(text, end ?? at);
    const to = readAt(base64, text, from);
    if (to === undefined) return end;
    if (to - from >= keyLineCharsMin) end = to;
    else return end !== undefined && isLastLine(text, to) ? to : end;
  }
}

function isLastLine(text: string, end: number): boolean {
  return readAt(lineEnd, text, end) !== undefined || text.startsWith('-----', skipGap(text, end));
}

/** Skips everything that may be a part of a key, even if it is too short for one. */
function skipKey(text: string, from: number): number {
  for (let at = from; ;) {
    const end = skipGap(text, readAt(base64, text, at) ?? at);
    if (end === at) return at;
    at = end;
  }
}

/** Skips white space and escaped line breaks. */
function skipGap(text: string, from: number): number {
  for (let at = from; ;) {
    const end = readAt(spaces, text, at) ?? at;
    const next = readAt(escapedLineBreak, text, end);
    if (next === undefined) return end;
    at = next;
  }
}

/** @returns the end of a match of the sticky pattern at this place. */
function readAt(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

const idPrefix = '@secretlint/secretlint-rule-';

/**
 * Rules of the preset that do not help: the first lets the author of a text switch off the others by a comment; the
 * second judges whole files by their names, and `privatekey` finds the key inside such a file.
 */
const leftOut: ReadonlySet<string> = new Set(['filter-comments', 'gcp']);

/** Messages that are no secrets: numbers of accounts. */
const leftOutMessages: ReadonlySet<string> = new Set(['AWSAccountID']);

/** Options of rules. Ids of access keys are off by default; an id alone identifies the owner of the secret half. */
const optionsOf: Readonly<Record<string, object>> = { aws: { enableIDScanRule: true } };

/** Least length of a value in a report. Shorter ones are words of its message. */
const valueCharactersMin = 8;

/** Most characters between the reported place and the reported value: a name, a separator and quotes. */
const valueDistanceMax = 300;

/**
 * Creates a function that finds secrets in a text by the recommended rules of secretlint.
 *
 * Its own `@secretlint/core` is for short-lived processes: it is asynchronous, and its profiler keeps every
 * measurement, so that after 3,000 texts one takes 14 ms instead of 0.1. The rules themselves need little of it.
 */
export function createRecommendedRules(): (text: string) => Span[] {
  let found: Span[] = [];
  let source = describeSource('');
  const scanners = rules.flatMap((creator: SecretLintRuleCreator) => {
    const rule = creator.meta.id.replace(idPrefix, '');
    if (leftOut.has(rule)) return [];
    const handler = creator.create(
      {
        sharedOptions: {},
        createTranslator: () => (messageId, data) => ({
          message: '',
          messageId: String(messageId),
          data,
        }),
        report: (report) => {
          if (leftOutMessages.has(report.message.messageId)) return;
          found.push({ rule, ...locate(source.content, report) });
        },
        ignore: () => {},
      },
      optionsOf[rule] ?? {},
    );
    return handler.file === undefined ? [] : [handler.file.bind(handler)];
  });
  return (text) => {
    found = [];
    source = describeSource(text);
    for (const scan of scanners) void scan(source);
    return found;
  };
}

/**
 * Corrects the range of a finding. Some rules report a range as long as the secret that begins at the name before it; a
 * linter only shows a line, but here the end of the secret would remain.
 */
function locate(
  text: string,
  { range: [start, end], message }: SecretLintRuleReportDescriptor,
): Pick<Span, 'start' | 'end'> {
  const data: Readonly<Record<string, unknown>> = message.data ?? {};
  const values = Object.values(data).filter(
    (value): value is string => typeof value === 'string' && value.length >= valueCharactersMin,
  );
  const shown = text.slice(start, end);
  if (values.some((value) => shown.includes(value))) return { start, end };
  for (const value of values) {
    const near = text.slice(start, start + valueDistanceMax + value.length).indexOf(value);
    if (near >= 0) return { start: start + near, end: start + near + value.length };
  }
  return { start, end };
}

function unused(): never {
  throw new Error('No rule needs lines and columns.');
}

/** Describes a text without a file name. `create-redactor.ts` covers the rules that need one. */
function describeSource(content: string): SecretLintSourceCode {
  return {
    content,
    contentType: 'text',
    ext: '',
    filePath: undefined,
    physicalFilePath: undefined,
    hasBOM: false,
    getFilePath: () => undefined,
    getPhysicalFilePath: () => undefined,
    locationToRange: unused,
    rangeToLocation: unused,
    positionToIndex: unused,
    indexToPosition: unused,
  };
}
