import type { Middleware, MiddlewareRegistry } from '../ports/middleware.ts';
import { findMiddlewareFaults } from './find-middleware-faults.ts';

/** @throws Error that lists every duplicate, bad name and invalid field: a fault in the worker's set-up. */
export function createMiddlewareRegistry(list: readonly Middleware[]): MiddlewareRegistry {
  const faults = findMiddlewareFaults(list);
  if (faults.length > 0) throw new Error(`The middlewares are wrong: ${faults.join('; ')}.`);
  return new Map(list.map((one) => [one.name, one]));
}

/** Name, kind and stages of a middleware, which teams refer to. */
export type MiddlewareSummary = Pick<Middleware, 'name' | 'kind' | 'stages'>;

/** Describes every middleware and guardrail, in the order of the registry. */
export function describeMiddlewares(registry: MiddlewareRegistry): MiddlewareSummary[] {
  return [...registry.values()].map(({ name, kind, stages }) => ({ name, kind, stages }));
}
