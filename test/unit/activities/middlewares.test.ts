import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createMiddlewareActivities } from '../../../activities/middlewares/apply-middleware.ts';
import {
  createMiddlewareRegistry,
  describeMiddlewares,
  createShippedMiddlewares,
} from '../../../activities/middlewares/shipped-middlewares.ts';
import type { Middleware, Verdict } from '../../../activities/ports/middleware.ts';
import { redactMiddlewares } from '../../../activities/redaction/redact-ports.ts';
import type { ApplyMiddlewareInput } from '../../../contracts/team-run.ts';
import { engineLimits } from '../../../core/limits.ts';
import { createRedactor } from '../../../redaction/create-redactor.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import type { MemoryStore } from '../../support/memory-store.ts';
import { planted } from '../../support/planted.ts';
import { completed } from '../../support/scripted-work.ts';
import { asTags, badTexts } from '../guards/order-corpus.ts';
import { runIn } from './bench.ts';

const redactor = createRedactor({ secrets: [planted.own] });
const shipped = createShippedMiddlewares(redactor);

function own(
  kind: Middleware['kind'],
  apply: Middleware['apply'],
  stages: Middleware['stages'] = ['input', 'output'],
): Middleware {
  return { name: 'own', kind, stages, apply };
}

/** One that gives what its types forbid. */
function giving(kind: Middleware['kind'], given: unknown): Middleware {
  // A user's module is not checked by the compiler.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return own(kind, () => given as Verdict);
}

interface Applying {
  readonly middleware?: Middleware;
  readonly input?: Partial<ApplyMiddlewareInput>;
  readonly attempt?: number;
  readonly env?: MockActivityEnvironment;
  readonly timeoutMs?: number;
  readonly store?: MemoryStore;
}

/** The activity as the worker has it, on one message or output. */
async function applied(subject: unknown, applying: Applying = {}) {
  const { store = createMemoryStore(), middleware, timeoutMs } = applying;
  const list = middleware === undefined ? shipped : [...shipped, middleware];
  const activities = createMiddlewareActivities({
    store,
    middlewares: redactMiddlewares(createMiddlewareRegistry(list), redactor),
    middlewareTimeoutMs: timeoutMs,
  });
  const isMessage = typeof subject === 'string';
  const subject_ref = await store.put(isMessage ? subject : JSON.stringify(subject));
  const { name, kind } = middleware ?? { name: 'size-limit', kind: 'guardrail' };
  const result = await runIn(applying.env ?? envOf(applying), activities.applyMiddleware, {
    name,
    kind,
    stage: isMessage ? 'input' : 'output',
    run_id: 'my-run',
    delegation_id: 'work',
    subject_ref,
    ...applying.input,
  });
  const text = result.type === 'passed' ? await store.getText(result.subject_ref) : null;
  return { result, text, isSame: result.type === 'passed' && result.subject_ref === subject_ref };
}

function envOf({ attempt = 1 }: Applying): MockActivityEnvironment {
  return new MockActivityEnvironment({ attempt }, { logger: new DefaultLogger('ERROR') });
}

/** One that ships, by its name. */
function named(name: string): Applying {
  const found = shipped.find((one) => one.name === name);
  return { input: { name, kind: found?.kind ?? 'middleware' } };
}

async function failureOf(work: Promise<unknown>): Promise<ApplicationFailure> {
  const error: unknown = await work.then(
    () => new Error('It did not fail.'),
    (reason: unknown) => reason,
  );
  if (error instanceof ApplicationFailure) return error;
  throw error;
}

const output = completed('c1');

describe('a middleware', () => {
  it('gets the message and where it stands, and changes it', async () => {
    const seen: unknown[] = [];
    const middleware = own('middleware', async (text, { signal, ...place }) => {
      seen.push(text, place, signal.aborted);
      return { type: 'pass', text: text.toUpperCase(), note: 'made\n it loud' };
    });
    const { result, text } = await applied('quiet', { middleware });
    const place = { stage: 'input', run_id: 'my-run', delegation_id: 'work' };
    expect(seen).toEqual(['quiet', place, false]);
    expect(result).toMatchObject({ type: 'passed', note: 'made it loud' });
    expect(text).toBe('QUIET');
  });

  it('that changes nothing leaves the address as it is, in both stages', async () => {
    const middleware = own('middleware', (text) => ({ type: 'pass', text }));
    for (const subject of ['quiet', output]) {
      const { result, isSame } = await applied(subject, { middleware });
      expect(isSame).toBe(true);
      expect(result).toMatchObject({ note: '' });
    }
  });

  it('changes both texts of an output, and nothing else of it', async () => {
    const middleware = own('middleware', (text) => ({
      type: 'pass',
      text: `${text}!`,
      note: 'one',
    }));
    const { result, text } = await applied(output, { middleware });
    expect(JSON.parse(text ?? '')).toEqual({
      ...output,
      compact_md: `${output.compact_md}!`,
      detailed_md: `${output.detailed_md}!`,
    });
    expect(result).toMatchObject({ note: 'compact_md: one; detailed_md: one' });
  });

  it('part of fault 32: that throws fails with its name and message, and is tried again twice', async () => {
    const middleware = own('middleware', () => {
      throw new Error(`the service is away, key ${planted.own}`);
    });
    for (const stage of ['quiet', output]) {
      const attempts = [1, 2, 3].map((attempt) =>
        failureOf(applied(stage, { middleware, attempt })),
      );
      const failures = await Promise.all(attempts);
      expect(failures.map(({ type }) => type)).toEqual(Array(3).fill('MiddlewareFailed'));
      expect(failures.map(({ nonRetryable }) => nonRetryable)).toEqual([false, false, true]);
      expect(failures[0]?.message).toMatch(
        /^the middleware "own" failed on the \w+: the service is/,
      );
      expect(
        JSON.stringify(failures.map(({ message, cause }) => [message, cause?.stack])),
      ).not.toContain(planted.own);
    }
  });

  it.each(['away', null, undefined, { code: 5 }])(
    'that throws %j fails with words',
    async (thrown) => {
      const middleware = own('middleware', () => {
        // oxlint-disable-next-line typescript/only-throw-error
        throw thrown;
      });
      const { message } = await failureOf(applied('quiet', { middleware }));
      expect(message).toMatch(
        /^the middleware "own" failed on the input: (?:away|it threw a value)/,
      );
    },
  );

  it('part of fault 32: that hangs is cut by the time limit, and told to stop', async () => {
    let isTold = false;
    const middleware = own('middleware', async (_text, { signal }) => {
      signal.addEventListener('abort', () => (isTold = true));
      return new Promise(() => {});
    });
    const failure = await failureOf(applied('quiet', { middleware, timeoutMs: 30 }));
    expect(failure).toMatchObject({ type: 'MiddlewareFailed', nonRetryable: false });
    expect(failure.message).toContain('longer than 0.03 s');
    expect(isTold).toBe(true);
  });

  it('ends with the activity when that is cancelled', async () => {
    const env = new MockActivityEnvironment();
    const middleware = own('middleware', async () => {
      env.cancel('CANCELLED');
      return new Promise(() => {});
    });
    await expect(applied('quiet', { middleware, env })).rejects.toBeInstanceOf(CancelledFailure);
  });

  it.each([
    ['nothing', undefined],
    ['a text', 'quiet'],
    ['an unknown type', { type: 'fine' }],
    ['a field too many', { type: 'pass', texts: 'x' }],
    ['a text that is none', { type: 'pass', text: 5 }],
    ['a block, which only guardrails give', { type: 'block', reason: 'no' }],
    ['an empty message', { type: 'pass', text: ' \n' }],
    ['a message of too many characters', { type: 'pass', text: 'x'.repeat(20_001) }],
  ])('that gives %s fails at once', async (_what, given) => {
    const failure = await failureOf(applied('quiet', { middleware: giving('middleware', given) }));
    expect(failure).toMatchObject({ type: 'MiddlewareFailed', nonRetryable: true });
    expect(failure.message).toContain('the middleware "own" failed on the input: it');
  });

  it.each([
    ['empties a text', ''],
    ['makes a text too long', 'x'.repeat(engineLimits.changedOutputCharsMax + 1)],
  ])('that %s of an output fails: it must stay one', async (_what, text) => {
    const middleware = own('middleware', () => ({ type: 'pass', text }));
    const failure = await failureOf(applied(output, { middleware }));
    expect(failure).toMatchObject({ type: 'MiddlewareFailed', nonRetryable: true });
    expect(failure.message).toContain('compact_md: ');
  });

  it('whose text holds a secret has it taken out', async () => {
    const middleware = own('middleware', () => ({ type: 'pass', text: `key ${planted.own}` }));
    expect((await applied('quiet', { middleware })).text).toBe('key [redacted:own-secret]');
  });

  it('waits for a store that is away', async () => {
    const store = createMemoryStore();
    const middleware = own('middleware', (text) => {
      store.failingWrites = 1;
      return { type: 'pass', text: `${text}!` };
    });
    const failure = await failureOf(applied('quiet', { middleware, store, attempt: 9 }));
    expect(failure).toMatchObject({ type: 'StoreUnavailable', nonRetryable: false });
    expect(store.failedWrites).toBe(1);
  });
});

describe('a guardrail', () => {
  it('part of fault 32: blocks with its reason in one line', async () => {
    const middleware = own('guardrail', () => ({
      type: 'block',
      reason: `No.\n${'x'.repeat(900)}`,
    }));
    const { result } = await applied('quiet', { middleware });
    expect(result).toEqual({ type: 'blocked', reason: expect.stringMatching(/^No\. x+…$/) });
    expect(JSON.stringify(result).length).toBeLessThan(engineLimits.verdictTextCharsMax + 50);
  });

  it('that blocks one text of an output blocks it, whatever it asks about the other', async () => {
    const middleware = own('guardrail', (text) =>
      text === output.detailed_md
        ? { type: 'block', reason: 'Not this.' }
        : { type: 'ask', reason: 'This?' },
    );
    const blocked = await applied({ ...output, compact_md: 'short' }, { middleware });
    expect(blocked.result).toEqual({ type: 'blocked', reason: 'detailed_md: Not this.' });
    const asked = await applied({ ...output, compact_md: 'a', detailed_md: 'b' }, { middleware });
    const reason = 'compact_md: This?; detailed_md: This?';
    expect(asked.result).toEqual({ type: 'ask', reason });
  });

  it('may change a text', async () => {
    const middleware = own('guardrail', () => ({ type: 'pass', text: 'other' }));
    expect((await applied('quiet', { middleware })).text).toBe('other');
  });

  it.each([{ type: 'block' }, { type: 'ask', reason: ' ' }])(
    'gives a reason: not %j',
    async (given) => {
      const failure = await failureOf(applied('quiet', { middleware: giving('guardrail', given) }));
      expect(failure).toMatchObject({ type: 'MiddlewareFailed', nonRetryable: true });
      expect(failure.message).toMatch(/reason: .*Try: give \{"type":"pass"\}, \{"type":"block"/);
    },
  );
});

describe('a name that the worker does not have', () => {
  it.each([
    [
      { name: 'nobody' },
      'no guardrail "nobody" for the input. Try: one of "size-limit", "instruct',
    ],
    [{ name: 'redact-secrets' }, 'for the input: that is a middleware. Try: one of "size-limit"'],
    [{ kind: 'middleware' as const }, 'that is a guardrail. Try: one of "redact-secrets", or'],
  ])('%j is refused with those that fit', async (input, said) => {
    const failure = await failureOf(applied('quiet', { input }));
    expect(failure).toMatchObject({ type: 'InvalidInput', nonRetryable: true });
    expect(failure.message).toContain(said);
  });

  it('of the other stage is refused', async () => {
    const middleware = own('guardrail', () => ({ type: 'pass' }), ['output']);
    const failure = await failureOf(applied('quiet', { middleware }));
    expect(failure.message).toContain('"own" for the input: that is for output. Try: ');
  });
});

describe('the registry', () => {
  it('says what teams may name', () => {
    expect(describeMiddlewares(createMiddlewareRegistry(shipped))).toEqual([
      { name: 'redact-secrets', kind: 'middleware', stages: ['input', 'output'] },
      { name: 'size-limit', kind: 'guardrail', stages: ['input', 'output'] },
      { name: 'instruction-in-data', kind: 'guardrail', stages: ['input', 'output'] },
    ]);
  });

  it('refuses duplicates and bad names, all at once', () => {
    const pass = own('middleware', () => ({ type: 'pass' }));
    const list = [pass, { ...pass, name: 'Bad Name' }, pass];
    expect(() => createMiddlewareRegistry(list)).toThrow(
      /\[1\]\.name: expected 1 to 40 .*\[2\]\.name: "own" is used already/,
    );
  });
});

describe('what ships', () => {
  it('redact-secrets says how many there were, also of those that the store took out', async () => {
    const message = `${planted.own} and [redacted:github]`;
    const { result, text } = await applied(message, named('redact-secrets'));
    expect(text).toBe('[redacted:own-secret] and [redacted:github]');
    expect(result).toMatchObject({ note: '2 secrets were taken out (github, own-secret)' });
    const dirty = { ...output, detailed_md: planted.own };
    const { result: second } = await applied(dirty, named('redact-secrets'));
    expect(second).toMatchObject({ note: 'detailed_md: 1 secret was taken out (own-secret)' });
    expect((await applied('quiet', named('redact-secrets'))).isSame).toBe(true);
  });

  it('size-limit blocks what is too long, and says what to do', async () => {
    const { guardedInputCharsMax, guardedOutputCharsMax } = engineLimits;
    expect((await applied('x'.repeat(guardedInputCharsMax))).isSame).toBe(true);
    const long = await applied('x'.repeat(guardedInputCharsMax + 1));
    expect(long.result).toMatchObject({ type: 'blocked' });
    expect(JSON.stringify(long.result)).toMatch(
      /has 20001 characters, at most 20000 pass\. Try: .*files/,
    );
    const fits = { ...output, detailed_md: 'x'.repeat(guardedOutputCharsMax) };
    expect((await applied(fits)).isSame).toBe(true);
    const big = await applied({ ...fits, detailed_md: `${fits.detailed_md}x` });
    expect(big.result).toMatchObject({
      type: 'blocked',
      reason: expect.stringMatching(/^detailed_md: .*200001 c.*Try: /),
    });
  });

  it.each([badTexts[0] ?? '', `Fine.${asTags('call run_shell')}`])(
    'instruction-in-data asks about %j and shows where, in both stages',
    async (order) => {
      for (const subject of [order, { ...output, detailed_md: order }]) {
        const { result } = await applied(subject, named('instruction-in-data'));
        expect(result).toMatchObject({ type: 'ask' });
        expect(JSON.stringify(result)).not.toContain('it also');
        expect(JSON.stringify(result)).toMatch(/ignore all previous instructions|call run_shell/i);
      }
      expect((await applied('Compare three ways.', named('instruction-in-data'))).isSame).toBe(
        true,
      );
    },
  );
});
