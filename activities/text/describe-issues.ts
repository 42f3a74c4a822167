import type { z } from 'zod';
import { type OutputFault, expandIssue } from '../../contracts/output-fault.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { listNames } from '../../core/text/list-names.ts';

type Issue = z.core.$ZodIssue;

/**
 * Maximum faults that are reported at once. Further ones mostly follow from these, and the reply to them must stay
 * short.
 */
const shapeFaultsMax = 20;

/** The path of a fault of the whole value. */
export const wholePath = '$';

/** Words what a schema found for the model that has to mend it: all at once, at most 20, each with a hint. */
export function describeIssues(error: z.ZodError): OutputFault[] {
  const issues = error.issues.flatMap(expandIssue);
  const faults = issues.slice(0, shapeFaultsMax).map(describeIssue);
  const left = issues.length - faults.length;
  const last = faults.at(-1);
  if (left > 0 && last !== undefined) {
    const reason = `${last.reason} (and ${left} more faults that are not listed)`;
    faults[faults.length - 1] = { ...last, reason };
  }
  return faults;
}

/** Formats a path as `coverage.criteria_met[0].evidence`, or `$` for the whole value. */
function formatPath(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>((before, part) => {
    if (typeof part === 'number') return `${before}[${part}]`;
    const name = String(part);
    if (!/^\w+$/.test(name)) return `${before}[${JSON.stringify(name)}]`;
    return before === '' ? name : `${before}.${name}`;
  }, '');
  return text === '' ? wholePath : cutText(text, 200);
}

function describeIssue(issue: Issue): OutputFault {
  const { reason, hint } = explain(issue);
  return { path: formatPath(issue.path), reason: cutText(reason, 300), hint: cutText(hint, 300) };
}

type Explanation = Pick<OutputFault, 'reason' | 'hint'>;

function explain(issue: Issue): Explanation {
  // Our own schemas say it better. Keys come from outside, so what stands in their message is no hint of ours.
  if (issue.code !== 'unrecognized_keys' && issue.message.includes('Try: ')) {
    return splitHint(issue.message);
  }
  if (issue.code === 'invalid_type') return explainType(issue);
  if (issue.code === 'too_big') {
    if (unitOf(issue.origin) === '') return explainNumber(issue);
    const most = `at most ${issue.maximum} ${unitOf(issue.origin)}`.trimEnd();
    return { reason: `too much: ${most} allowed`, hint: `Try: keep what matters, ${most}.` };
  }
  if (issue.code === 'too_small') {
    if (unitOf(issue.origin) === '') return explainNumber(issue);
    const least = `at least ${issue.minimum} ${unitOf(issue.origin)}`.trimEnd();
    return { reason: `too little: ${least} expected`, hint: `Try: say it in full, ${least}.` };
  }
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String);
    const [first] = values;
    return {
      reason: `expected one of ${listNames(values)}`,
      hint: `Try: ${JSON.stringify(first)}, or whichever of them is true.`,
    };
  }
  if (issue.code === 'unrecognized_keys') {
    return {
      reason: `fields that do not belong here: ${listNames(issue.keys, 10)}`,
      hint: 'Try: leave them out, and put what they say into a field that exists.',
    };
  }
  return splitHint(issue.message);
}

function explainNumber(issue: Extract<Issue, { code: 'too_big' | 'too_small' }>): Explanation {
  const isBig = issue.code === 'too_big';
  const edge = String(isBig ? issue.maximum : issue.minimum);
  // Without `inclusive` the edge itself is a good value.
  const isEdgeGood = issue.inclusive ?? true;
  const [bound, other] = isBig
    ? (['at most', 'less than'] as const)
    : (['at least', 'more than'] as const);
  const expected = `${isEdgeGood ? bound : other} ${edge}`;
  return {
    reason: `too ${isBig ? 'large' : 'small'}: ${expected} expected`,
    hint: `Try: a number of ${expected}.`,
  };
}

function explainType(issue: Extract<Issue, { code: 'invalid_type' }>): Explanation {
  const isMissing = issue.message.endsWith('received undefined');
  return isMissing
    ? {
        reason: `missing, expected ${issue.expected}`,
        hint: `Try: add it${issue.expected === 'array' ? '; an empty list is []' : ''}.`,
      }
    : { reason: issue.message, hint: `Try: give it as ${issue.expected}.` };
}

/** Splits the hint from a message. Our own schemas end their messages with a hint; the library's have none. */
function splitHint(message: string): Explanation {
  const at = message.indexOf('Try: ');
  if (at === -1) return { reason: message, hint: 'Try: follow the description of the field.' };
  return { reason: message.slice(0, at).trim(), hint: message.slice(at) };
}

function unitOf(origin: string): string {
  if (origin === 'string') return 'character(s)';
  return origin === 'array' ? 'entries' : '';
}
