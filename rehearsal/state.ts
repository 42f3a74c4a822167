import { createPromptCache } from './replies/accounting.ts';
import type { PromptCache } from './replies/accounting.ts';
import { CallLog } from './scripting/call-log.ts';
import { createScriptBook } from './scripting/script-book.ts';
import type { ScriptBook } from './scripting/script-book.ts';

/** What one server instance remembers. */
export interface RehearsalState {
  readonly book: ScriptBook;
  readonly log: CallLog;
  readonly cache: PromptCache;
  /** Milliseconds a reply takes when its script does not say. */
  readonly thinkMs: number;
  /** `req_rehearsal_000001`, and so on for every request to the server. */
  nextRequestNumber(): number;
  /** Back to how the server started: no script, no calls, an empty prompt cache, ids from 1. */
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
