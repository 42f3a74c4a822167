import type { Middleware, MiddlewareRegistry } from '../ports/middleware.ts';
import type { Redactor } from '../ports/redactor.ts';
import { redactFailure } from './redact-failure.ts';

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
