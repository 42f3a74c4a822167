import { clearScore, scoreOrders } from '../../core/guards/score-orders.ts';
import { engineLimits } from '../../core/limits.ts';
import { cutText } from '../../core/text/cut-text.ts';
import type { Middleware, MiddlewareRegistry } from '../ports/middleware.ts';
import type { Redactor } from '../ports/redactor.ts';

const mark = /\[redacted:([a-z0-9-]{1,60})\]/g;

/**
 * Says how many secrets a text held, and of what kind. What is kept, sent or shown has none anyway (docs/secrets.md), so
 * by the time it looks marks stand in most of their places; it takes out what is still there.
 */
function createRedactSecrets(redactor: Pick<Redactor, 'redactText'>): Middleware {
  return {
    name: 'redact-secrets',
    kind: 'middleware',
    stages: ['input', 'output'],
    apply(text) {
      const redacted = redactor.redactText(text, 'middleware');
      const rules = [...redacted.matchAll(mark)].map(([, rule = '']) => rule);
      if (rules.length === 0) return { type: 'pass' };
      const kinds = [...new Set(rules)].toSorted().join(', ');
      const note =
        rules.length === 1
          ? `1 secret was taken out (${kinds})`
          : `${rules.length} secrets were taken out (${kinds})`;
      return { type: 'pass', text: redacted, note };
    },
  };
}

/** Characters (UTF-16 code units) of a message, and of each text of an output. */
const charsMax = {
  input: engineLimits.guardedInputCharsMax,
  output: engineLimits.guardedOutputCharsMax,
} as const;

const cures = {
  input:
    'Try: say in the message what matters, and put long material into files or into results of earlier delegations that the task names as its inputs.',
  output: 'Try: ask for a shorter result, or for parts as results of their own.',
} as const;

/** Blocks texts that are too long to be read with care. */
const sizeLimit: Middleware = {
  name: 'size-limit',
  kind: 'guardrail',
  stages: ['input', 'output'],
  apply(text, { stage }) {
    const most = charsMax[stage];
    if (text.length <= most) return { type: 'pass' };
    const what = stage === 'input' ? 'The message' : 'The text';
    return {
      type: 'block',
      reason: `${what} has ${text.length} characters, at most ${most} pass. ${cures[stage]}`,
    };
  },
};

/** Most signs that a question names. More would repeat the point. */
const shownMax = 2;

const shownCharsMax = 160;

/** Asks the user about a text that plainly gives instructions to the model that reads it, or to its tools. */
const instructionInData: Middleware = {
  name: 'instruction-in-data',
  kind: 'guardrail',
  stages: ['input', 'output'],
  apply(text) {
    const { score, findings } = scoreOrders(text);
    if (score < clearScore) return { type: 'pass' };
    // If two signs match the same words, the stronger one is shown.
    const [first, ...rest] = findings
      .filter(({ excerpt }, at) => findings.findIndex((one) => one.excerpt === excerpt) === at)
      .slice(0, shownMax)
      .map(({ sign, excerpt }) => `${sign}: "${cutText(excerpt, shownCharsMax)}"`);
    const shown = [first, ...rest].join('; it also ');
    return {
      type: 'ask',
      reason: `It seems to give orders to the model that reads it. It ${shown}`,
    };
  },
};

/** Creates the middlewares and guardrails that every worker has. */
export function createShippedMiddlewares(
  redactor: Pick<Redactor, 'redactText'>,
): readonly Middleware[] {
  return [createRedactSecrets(redactor), sizeLimit, instructionInData];
}

const goodName = /^[a-z0-9][a-z0-9_-]{0,39}$/;
const knownKinds: readonly unknown[] = ['middleware', 'guardrail'];
const knownStages: readonly unknown[] = ['input', 'output'];

/**
 * Finds all faults of a list of middlewares, one line each.
 *
 * @param taken Names that are already used.
 */
export function findMiddlewareFaults(list: unknown, taken: readonly string[] = []): string[] {
  if (!Array.isArray(list)) return [`expected a list, got ${describe(list)}`];
  const names = new Set(taken);
  return list.flatMap((entry: unknown, index): string[] => {
    if (typeof entry !== 'object' || entry === null) {
      return [`[${index}]: expected an object, got ${describe(entry)}`];
    }
    const fields: Readonly<Record<string, unknown>> = { ...entry };
    // Methods of a class are not its own.
    const apply: unknown = 'apply' in entry ? entry.apply : undefined;
    const name = fields['name'];
    const isTaken = typeof name === 'string' && names.has(name);
    if (typeof name === 'string') names.add(name);
    return [
      ...checkName(name, isTaken),
      ...checkField(
        knownKinds.includes(fields['kind']),
        'kind',
        fields,
        '"middleware" or "guardrail"',
      ),
      ...checkField(
        areStages(fields['stages']),
        'stages',
        fields,
        'a list of "input", "output" or both, each once',
      ),
      ...checkField(
        typeof apply === 'function',
        'apply',
        { apply },
        'a function of a text and a context',
      ),
    ].map((fault) => `[${index}].${fault}`);
  });
}

/** @returns true when the list has no faults. */
export function isMiddlewareList(list: unknown): list is readonly Middleware[] {
  return findMiddlewareFaults(list).length === 0;
}

function checkName(name: unknown, isTaken: boolean): string[] {
  if (typeof name !== 'string' || !goodName.test(name)) {
    const expected = '1 to 40 lower-case letters, digits, "-" or "_". Try: "no-phone-numbers"';
    return [`name: expected ${expected}; got ${describe(name)}`];
  }
  if (!isTaken) return [];
  return [`name: "${name}" is used already. Try: another name; shipped ones can't be replaced`];
}

function checkField(
  isGood: boolean,
  field: string,
  fields: Readonly<Record<string, unknown>>,
  expected: string,
): string[] {
  return isGood ? [] : [`${field}: expected ${expected}; got ${describe(fields[field])}`];
}

function areStages(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((stage) => knownStages.includes(stage)) &&
    new Set(value).size === value.length
  );
}

function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return JSON.stringify(cutText(value, 60));
  return value === null
    ? 'null'
    : Array.isArray(value)
      ? 'a list'
      : `a value of type ${typeof value}`;
}

/** @throws Error that lists every duplicate, bad name and invalid field: a fault in the worker's set-up. */
export function createMiddlewareRegistry(list: readonly Middleware[]): MiddlewareRegistry {
  const faults = findMiddlewareFaults(list);
  if (faults.length > 0) throw new Error(`The middlewares are wrong: ${faults.join('; ')}.`);
  return new Map(list.map((one) => [one.name, one]));
}

/** Name, kind and stages of a middleware, which teams refer to. */
type MiddlewareSummary = Pick<Middleware, 'name' | 'kind' | 'stages'>;

/** Describes every middleware and guardrail, in the order of the registry. */
export function describeMiddlewares(registry: MiddlewareRegistry): MiddlewareSummary[] {
  return [...registry.values()].map(({ name, kind, stages }) => ({ name, kind, stages }));
}
