import { ApplicationFailure, Context } from '@temporalio/activity';
import { engineLimits } from '../../core/limits.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { ApplyMiddlewareInput } from '../../contracts/team-activities.ts';
import type { Middleware, MiddlewareRegistry } from '../ports/middleware.ts';

/** Characters of what a middleware threw. */
const thrownCharsMax = 2_000;

/** It gave something that can't be used. It would give the same again, so it is not asked again. */
export class BadVerdict extends Error {
  override readonly name = 'BadVerdict';
}

/** `MiddlewareFailed` with name and message. What it threw may have been the moment's fault, and is tried again. */
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
