import { ApplicationFailure, Context } from '@temporalio/activity';
import { z } from 'zod';
import type { ApplyMiddlewareInput } from '../../contracts/team-run.ts';
import { engineLimits } from '../../core/limits.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { listNames } from '../../core/text/list-names.ts';
import { endCancelled, readCancelCause } from '../attempt/cancellation.ts';
import type { Middleware, MiddlewareRegistry, Verdict } from '../ports/middleware.ts';
import { describeIssues } from '../text/describe-issues.ts';

/** Characters that are kept of what a middleware threw. */
const thrownCharsMax = 2_000;

/** A verdict that can't be used. The middleware would give the same again, so it is not asked again. */
export class BadVerdict extends Error {
  override readonly name = 'BadVerdict';
}

/** Creates `MiddlewareFailed` with name and message. It is tried again, because what was thrown may be the moment's fault. */
export function createMiddlewareFailed(
  { name, kind }: Middleware,
  stage: ApplyMiddlewareInput['stage'],
  error: unknown,
): ApplicationFailure {
  const isLast = Context.current().info.attempt >= engineLimits.middlewareAttemptsMax;
  return ApplicationFailure.create({
    type: 'MiddlewareFailed',
    message: `the ${kind} "${name}" failed on the ${stage}: ${cutText(sayOf(error), thrownCharsMax)}`,
    nonRetryable: isLast || error instanceof BadVerdict,
    ...(error instanceof Error && { cause: error }),
  });
}

function sayOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return typeof error === 'string' ? error : `it threw a value of type ${typeof error}`;
}

/** @throws InvalidInput when this worker has none of that name for that use. */
export function findMiddleware(
  registry: MiddlewareRegistry,
  { name, kind, stage }: Pick<ApplyMiddlewareInput, 'name' | 'kind' | 'stage'>,
): Middleware {
  const found = registry.get(name);
  if (found !== undefined && found.kind === kind && found.stages.includes(stage)) return found;
  const fitting = [...registry.values()]
    .filter((one) => one.kind === kind && one.stages.includes(stage))
    .map((one) => one.name);
  throw ApplicationFailure.nonRetryable(
    `This worker has no ${kind} "${cutText(name, 120)}" for the ${stage}${explain(found, kind)}. ` +
      `Try: one of ${listNames(fitting)}, or a worker whose PLANWAVE_MIDDLEWARES has it.`,
    'InvalidInput',
  );
}

function explain(found: Middleware | undefined, kind: Middleware['kind']): string {
  if (found === undefined) return '';
  return found.kind === kind
    ? `: that is for ${found.stages.join(' and ')}`
    : `: that is a ${found.kind}`;
}

const Reason = z
  .string()
  .trim()
  .min(1, 'expected why, for people. Try: {"type":"block","reason":"It names a person."}');

const Pass = z.strictObject({
  type: z.literal('pass'),
  text: z.string().optional(),
  note: z.string().optional(),
});

const verdicts = {
  middleware: Pass,
  guardrail: z.discriminatedUnion('type', [
    Pass,
    z.strictObject({ type: z.literal('block'), reason: Reason }),
    z.strictObject({ type: z.literal('ask'), reason: Reason }),
  ]),
} as const satisfies Record<Middleware['kind'], z.ZodType>;

const examples = {
  middleware: '{"type":"pass"} or {"type":"pass","text":"…"}; only a guardrail blocks or asks',
  guardrail: '{"type":"pass"}, {"type":"block","reason":"…"} or {"type":"ask","reason":"…"}',
} as const;

/**
 * Calls a middleware with one text, for at most `timeoutMs`. One that hangs is abandoned; its late end changes nothing.
 *
 * @throws MiddlewareFailed when it throws, hangs, or returns no verdict of its kind.
 */
export async function judgeText(
  middleware: Middleware,
  { stage, run_id, delegation_id }: ApplyMiddlewareInput,
  text: string,
  timeoutMs: number,
): Promise<Verdict> {
  const context = Context.current();
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([context.cancellationSignal, timeout]);
  try {
    const given = await endWith(signal, async () =>
      middleware.apply(text, { stage, run_id, delegation_id, signal }),
    );
    return readVerdict(middleware, given);
  } catch (error) {
    const cause = readCancelCause(context);
    if (cause !== null) return await endCancelled(context, cause);
    const late = new Error(`it took longer than ${timeoutMs / 1_000} s and was given up`);
    throw createMiddlewareFailed(middleware, stage, timeout.aborted ? late : error);
  }
}

async function endWith<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const ended = new Promise<never>((_resolve, reject) => {
    const giveUp = (): void => reject(new Error('given up'));
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
  return Promise.race([work(), ended]);
}

/** Checks the verdict at run time, because the types of a user's module are unchecked. */
function readVerdict({ kind }: Middleware, given: unknown): Verdict {
  const parsed = verdicts[kind].safeParse(given);
  if (parsed.success) return parsed.data;
  const faults = describeIssues(parsed.error).map(({ path, reason }) => `${path}: ${reason}`);
  throw new BadVerdict(`it gave no verdict (${faults.join('; ')}). Try: give ${examples[kind]}`);
}
