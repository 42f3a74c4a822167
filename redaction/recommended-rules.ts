import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import type {
  SecretLintRuleReportDescriptor,
  SecretLintRuleCreator,
  SecretLintSourceCode,
} from '@secretlint/types';
import type { Span } from './span.ts';

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
