import { cutText } from '../../core/text/cut-text.ts';
import type { Middleware, MiddlewareRegistry } from '../ports/middleware.ts';

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
