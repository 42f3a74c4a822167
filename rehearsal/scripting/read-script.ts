import { isObject } from '../json.ts';
import type { ScriptRule } from '../script.ts';

const ruleFields = new Set(['match', 'times', 'reply']);
const matchFields: Readonly<Record<string, string>> = {
  callKeyIncludes: 'string',
  bodyIncludes: 'string',
  schema: 'string',
  member: 'string',
  phase: 'string',
  round: 'number',
  delegation: 'string',
  agent: 'string',
  leads: 'boolean',
  nth: 'number',
};
/** A reply needs at least one of these. */
const replyKinds = [
  'text',
  'json',
  'tool_use',
  'content',
  'status',
  'cut',
  'stall',
  'sseError',
  'raw',
  'pass',
];
const choices: Readonly<Record<string, readonly string[]>> = {
  cut: ['before-headers', 'after-headers', 'mid-stream', 'eof-without-stop'],
  stall: ['before-headers', 'after-headers', 'in-stream'],
};

function findMatchFault(match: unknown): string | null {
  if (match === undefined) return null;
  if (!isObject(match)) return 'match is no object';
  for (const [name, value] of Object.entries(match)) {
    const type = matchFields[name];
    if (type === undefined) {
      return `match.${name} is not known. Known: ${Object.keys(matchFields).join(', ')}`;
    }
    if (typeof value !== type) return `match.${name} must be a ${type}`;
  }
  return null;
}

function findReplyFault(reply: unknown): string | null {
  if (!isObject(reply)) return 'reply is no object';
  if (!replyKinds.some((kind) => kind in reply)) {
    return `reply needs one of: ${replyKinds.join(', ')}`;
  }
  for (const [name, allowed] of Object.entries(choices)) {
    const value = reply[name];
    if (value !== undefined && !(typeof value === 'string' && allowed.includes(value))) {
      return `reply.${name} must be one of: ${allowed.join(', ')}`;
    }
  }
  return null;
}

function findRuleFault(rule: unknown): string | null {
  if (!isObject(rule)) return 'is no object';
  const unknown = Object.keys(rule).find((name) => !ruleFields.has(name));
  if (unknown !== undefined) return `${unknown} is not known. Known: ${[...ruleFields].join(', ')}`;
  if (rule['times'] !== undefined && typeof rule['times'] !== 'number')
    return 'times must be a number';
  return findMatchFault(rule['match']) ?? findReplyFault(rule['reply']);
}

/**
 * Reads a script that came over HTTP: a list of rules, or `{"rules": […]}`.
 *
 * @returns the rules, or what is wrong with the first bad one as one sentence.
 */
export function readScript(body: unknown): readonly ScriptRule[] | string {
  const rules: unknown = isObject(body) ? body['rules'] : body;
  if (!Array.isArray(rules)) {
    return 'Expected a list of rules. Try: [{"times": 1, "reply": {"status": 529}}]';
  }
  for (const [position, rule] of rules.entries()) {
    const fault = findRuleFault(rule);
    if (fault !== null) return `rules[${position}]: ${fault}.`;
  }
  return rules as readonly ScriptRule[];
}
