import type { EntrySelection } from '../../contracts/thread.ts';
import type { Redactor } from '../ports/redactor.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { EffectLedger } from '../ports/effect-ledger.ts';
import type { ReplyLedger } from '../ports/reply-ledger.ts';
import type { Notifier } from '../ports/notifier.ts';
import type { Middleware, MiddlewareRegistry } from '../ports/middleware.ts';
import type { ProjectionWriter } from '../ports/projection-writer.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import type { Tool, ToolRegistry } from '../tools/tool.ts';
import { decodeUtf8 } from '../text/bytes.ts';

/** Most causes that are kept: the origin of a failure is near its top. */
const causesMax = 10;

/**
 * Takes secrets out of the texts of an error and of its causes. Temporal stores these texts in history outside of
 * payloads, where no codec sees them. The error is changed in place, because its class decides how the engine handles
 * it.
 *
 * @returns the error, or the redacted text when a text was thrown.
 */
export function redactFailure(error: unknown, redactor: Redactor): unknown {
  if (!(error instanceof Error)) {
    return typeof error === 'string' ? redactor.redactText(error, 'failure') : error;
  }
  let at: Error = error;
  for (let depth = 1; ; depth += 1) {
    redactTexts(at, redactor);
    const { cause } = at;
    if (cause === undefined || cause === null) return error;
    if (!(cause instanceof Error) || depth === causesMax) {
      Object.assign(at, { cause: undefined });
      return error;
    }
    at = cause;
  }
}

function redactTexts(error: Error, redactor: Redactor): void {
  const message = redactor.redactText(error.message, 'failure');
  // The stack begins with the message; a redacted message is counted once.
  const stack = error.stack?.replaceAll(error.message, () => message);
  const texts = { message, stack: stack && redactor.redactText(stack, 'failure') };
  if (message !== error.message || texts.stack !== error.stack) Object.assign(error, texts);
}

/**
 * Wraps a store so that it holds no secret: addresses are those of the redacted texts. Prompts, replies, tool calls,
 * tool results and records all go through it, and a model is sent only texts from it.
 */
export function redactStore(store: ArtifactStore, redactor: Redactor): ArtifactStore {
  return {
    put: async (content) => store.put(redactContent(content, redactor)),
    get: (ref) => store.get(ref),
    getText: (ref) => store.getText(ref),
    has: (ref) => store.has(ref),
    openBatch: () => {
      const batch = store.openBatch();
      return { ...redactStore(batch, redactor), staged: batch.staged };
    },
  };
}

/** Redacts text. Bytes that are no text stay unchanged, because no rule can read them. */
function redactContent(content: Uint8Array | string, redactor: Redactor): Uint8Array | string {
  if (typeof content === 'string') return redactor.redactText(content, 'artifact');
  const text = decodeUtf8(content);
  if (text === null) return content;
  const redacted = redactor.redactText(text, 'artifact');
  return redacted === text ? content : redacted;
}

/** Wraps a ledger so that it holds no secret. A later attempt gets the redacted result of the first. */
export function redactLedger(ledger: ReplyLedger, redactor: Redactor): ReplyLedger {
  return {
    find: (key) => ledger.find(key),
    list: (place, since) => ledger.list(place, since),
    put: async (key, attempt, value, batch, time) =>
      ledger.put(key, attempt, redactor.redactValue(value, 'ledger'), batch, time),
  };
}

/** Wraps a ledger of effects so that it holds no secret: a tool's findings may contain anything. */
export function redactEffects(ledger: EffectLedger, redactor: Redactor): EffectLedger {
  return {
    find: (key) => ledger.find(key),
    put: async (key, state, after) => ledger.put(key, redactor.redactValue(state, 'ledger'), after),
  };
}

/** Wraps the projection. Its input is redacted, but two harmless texts may form a secret side by side. */
export function redactProjection(
  projection: ProjectionWriter,
  redactor: Redactor,
): ProjectionWriter {
  return {
    write: async (runId, path, text, terms) =>
      projection.write(runId, path, redactor.redactText(text, 'projection'), terms),
    remove: (runId, path, mayGo) => projection.remove(runId, path, mayGo),
    rootOf: (runId) => projection.rootOf(runId),
  };
}

/**
 * Wraps threads so that they hold no secret. Names in requests are redacted too, so that a thread whose name holds a
 * secret is found again.
 */
export function redactThreads(threads: ThreadStore, redactor: Redactor): ThreadStore {
  const redact = (name: string): string => redactor.redactText(name, 'thread');
  const redactNames = (which: EntrySelection): EntrySelection =>
    redactor.redactValue(which, 'thread');
  return {
    load: (threadId, options) =>
      threads.load(redact(threadId), { ...options, exceptRun: redact(options.exceptRun) }),
    append: async (entry) => threads.append(redactor.redactValue(entry, 'thread')),
    search: (threadId, query, options) =>
      threads.search(redact(threadId), query, {
        ...options,
        exceptRun: redact(options.exceptRun),
      }),
    list: ({ limit, userId }) =>
      threads.list({ limit, userId: userId === null ? null : redact(userId) }),
    read: (threadId, limit) => threads.read(redact(threadId), limit),
    count: (which) => threads.count(redactNames(which)),
    remove: (which) => threads.remove(redactNames(which)),
    close: () => threads.close(),
  };
}

/** Middlewares whose texts, notes, reasons and errors hold no secret. They are cut to size afterwards. */
export function redactMiddlewares(
  middlewares: MiddlewareRegistry,
  redactor: Redactor,
): MiddlewareRegistry {
  return new Map([...middlewares].map(([name, one]) => [name, redactMiddleware(one, redactor)]));
}

function redactMiddleware(middleware: Middleware, redactor: Redactor): Middleware {
  const { name, kind, stages } = middleware;
  return {
    name,
    kind,
    stages,
    async apply(text, context) {
      try {
        return redactor.redactValue(await middleware.apply(text, context), 'middleware');
      } catch (error) {
        throw redactFailure(error, redactor);
      }
    },
  };
}

/** Tools whose results and errors hold no secret. Results are cut to size afterwards, and half a secret is not known for one. */
export function redactTools(tools: ToolRegistry, redactor: Redactor): ToolRegistry {
  return new Map([...tools].map(([name, tool]) => [name, redactTool(tool, redactor)]));
}

export function redactTool<T extends Tool>(tool: T, redactor: Redactor): T;
export function redactTool(tool: Tool, redactor: Redactor): Tool {
  const redacted = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return redactor.redactValue(await work(), 'tool');
    } catch (error) {
      throw redactFailure(error, redactor);
    }
  };
  // What it reads came from the model, and was redacted then.
  if (tool.effect === 'state' || tool.effect === 'research') return tool;
  if (tool.effect === 'read') {
    return { ...tool, run: (input, context) => redacted(() => tool.run(input, context)) };
  }
  return {
    ...tool,
    describeLoss: (input, context) =>
      redacted(async () => (await tool.describeLoss?.(input, context)) ?? null),
    look: (input, context) => redacted(() => tool.look(input, context)),
    act: (input, context) =>
      redacted(() =>
        tool.act(input, {
          ...context,
          // All of it: a secret may begin some lines above the one that is shown.
          onTail: (read) => context.onTail?.(() => redactor.redactText(read(), 'tool')),
        }),
      ),
    check: (input, before, context) => redacted(() => tool.check(input, before, context)),
  };
}

/** Messages to people, and what their receivers answer, hold no secret. */
export function redactNotifier(notifier: Notifier, redactor: Redactor): Notifier {
  return {
    async send(message, signal) {
      try {
        await notifier.send(redactor.redactValue(message, 'notification'), signal);
      } catch (error) {
        throw redactFailure(error, redactor);
      }
    },
  };
}
