import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import type {
  SecretLintRuleReportDescriptor,
  SecretLintRuleCreator,
  SecretLintSourceCode,
} from '@secretlint/types';
import type { Span } from './span.ts';

const idPrefix = '@secretlint/secretlint-rule-';

/**
 * Rules of the preset that are no help here: by a comment, the first lets whoever wrote a text switch the others off; the
 * second judges whole files by their names, and the key inside such a file is found by `privatekey`.
 */
const leftOut: ReadonlySet<string> = new Set(['filter-comments', 'gcp']);

/** Numbers of accounts are no secrets. */
const leftOutMessages: ReadonlySet<string> = new Set(['AWSAccountID']);

/** The ids of access keys are off by default; one alone names whose the secret half is. */
const optionsOf: Readonly<Record<string, object>> = { aws: { enableIDScanRule: true } };

/** Shorter values of a report are words of its message. */
const valueCharactersMin = 8;

/** How far behind the reported place the reported value may stand: a name, a separator and quotes. */
const valueDistanceMax = 300;

/**
 * The recommended rules of secretlint, as a function from a text to what they find in it.
 *
 * Its own `@secretlint/core` is for short-lived processes: it is asynchronous, and its profiler keeps every measurement,
 * so that after 3,000 texts one takes 14 ms instead of 0.1. The rules themselves need little of it.
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
 * Some rules report a range that is as long as the secret but begins at the name before it. A linter only shows a line;
 * here the end of the secret would be left over.
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

/** A text without a name. Rules that go by one do the least without; see `added-rules.ts` for what that leaves over. */
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
