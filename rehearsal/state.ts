import { createPromptCache } from './replies/accounting.ts';
import type { PromptCache } from './replies/accounting.ts';
import { CallLog } from './scripting/call-log.ts';
import { createScriptBook } from './scripting/script-book.ts';
import type { ScriptBook } from './scripting/script-book.ts';

/** State of one server instance. */
export interface RehearsalState {
  readonly book: ScriptBook;
  readonly log: CallLog;
  readonly cache: PromptCache;
  /** Milliseconds that a reply takes unless its script sets them. */
  readonly thinkMs: number;
  /** Returns the number of the next request: `req_rehearsal_000001` and so on. */
  nextRequestNumber(): number;
  /** Resets the state to the server's start: no script, no calls, an empty prompt cache, ids from 1. */
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
