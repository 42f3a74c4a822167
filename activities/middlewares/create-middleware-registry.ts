import type { Middleware, MiddlewareRegistry } from '../ports/middleware.ts';
import { findMiddlewareFaults } from './find-middleware-faults.ts';

/** @throws Error that lists every duplicate, bad name and wrong field: a fault in the worker's set-up. */
export function createMiddlewareRegistry(list: readonly Middleware[]): MiddlewareRegistry {
  const faults = findMiddlewareFaults(list);
  if (faults.length > 0) throw new Error(`The middlewares are wrong: ${faults.join('; ')}.`);
  return new Map(list.map((one) => [one.name, one]));
}

/** What teams may name, and where. */
export type MiddlewareSummary = Pick<Middleware, 'name' | 'kind' | 'stages'>;

/** Of every middleware and guardrail, in the order of the registry. */
export function describeMiddlewares(registry: MiddlewareRegistry): MiddlewareSummary[] {
  return [...registry.values()].map(({ name, kind, stages }) => ({ name, kind, stages }));
}
