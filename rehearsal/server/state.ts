import { CallLog } from '../call-log.ts';
import type { MessagesRequest } from '../messages-api.ts';
import { createPromptCache, type PromptCache } from '../replies/accounting.ts';
import type { CallPlace, RuleMatch, ScriptRule } from '../script.ts';

/** A call as rules are matched against it. */
interface MatchedCall extends CallPlace {
  readonly request: MessagesRequest;
  /** The request body's text. */
  readonly bodyText: string;
}

interface ScriptBook {
  /** Replaces all earlier rules by these. */
  write(rules: readonly ScriptRule[]): void;
  /** The first rule that fits, with its position, and counts it as used; null when none fits. */
  take(call: MatchedCall): { readonly rule: ScriptRule; readonly position: number } | null;
}

function fits(match: RuleMatch, call: MatchedCall): boolean {
  const { callKeyIncludes, bodyIncludes, schema } = match;
  if (callKeyIncludes !== undefined && !call.request.callKey.includes(callKeyIncludes))
    return false;
  if (bodyIncludes !== undefined && !call.bodyText.includes(bodyIncludes)) return false;
  if (schema !== undefined && schema !== call.shape) return false;
  if (!fitsTask(match, call.task)) return false;
  return (['member', 'phase', 'round'] as const).every(
    (name) => match[name] === undefined || match[name] === call.turn?.[name],
  );
}

function fitsTask({ delegation, agent, leads }: RuleMatch, task: CallPlace['task']): boolean {
  return (
    (delegation === undefined || delegation === task?.delegation_id) &&
    (agent === undefined || agent === task?.agent_id) &&
    (leads === undefined || leads === (task?.leads ?? false))
  );
}

/**
 * Keeps the script's rules and how often each was met.
 *
 * A rule is met by every call that fits its match, also when an earlier rule answers that call: so `nth` counts calls
 * and does not depend on the order of the rules.
 */
function createScriptBook(): ScriptBook {
  let entries: Array<{ rule: ScriptRule; met: number; used: number }> = [];
  return {
    write: (rules) => {
      entries = rules.map((rule) => ({ rule, met: 0, used: 0 }));
    },
    take: (call) => {
      let taken: ReturnType<ScriptBook['take']> = null;
      for (const [position, entry] of entries.entries()) {
        const { match = {}, times = Infinity } = entry.rule;
        if (!fits(match, call)) continue;
        entry.met += 1;
        const isDue = match.nth === undefined || match.nth === entry.met;
        if (taken === null && isDue && entry.used < times) {
          entry.used += 1;
          taken = { rule: entry.rule, position };
        }
      }
      return taken;
    },
  };
}

/** State of one server instance. */
export interface RehearsalState {
  readonly book: ScriptBook;
  readonly log: CallLog;
  readonly cache: PromptCache;
  /** Milliseconds that a reply takes unless its script sets them. */
  readonly thinkMs: number;
  /** Returns the number of the next request: `req_rehearsal_000001` and so on. */
  nextRequestNumber(): number;
  /** Resets the server to its start: no script, no calls, an empty prompt cache, ids from 1. */
  reset(): void;
}

export function createState(options: {
  readonly thinkMs: number;
  readonly keepsCalls: boolean;
}): RehearsalState {
  const book = createScriptBook();
  const log = new CallLog(options.keepsCalls);
  const cache = createPromptCache();
  let requests = 0;
  return {
    book,
    log,
    cache,
    thinkMs: options.thinkMs,
    nextRequestNumber: () => {
      requests += 1;
      return requests;
    },
    reset: () => {
      book.write([]);
      log.clear();
      cache.clear();
      requests = 0;
    },
  };
}
