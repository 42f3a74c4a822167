import { instructionInData } from '../activities/middlewares/instruction-in-data.ts';
import { createRedactSecrets } from '../activities/middlewares/redact-secrets.ts';
import { createSizeLimit } from '../activities/middlewares/size-limit.ts';
import type { Middleware } from '../activities/ports/middleware.ts';
import type { Redactor } from '../activities/ports/redactor.ts';

/** Creates the middlewares and guardrails that every worker has. */
export function createShippedMiddlewares(
  redactor: Pick<Redactor, 'redactText'>,
): readonly Middleware[] {
  return [createRedactSecrets(redactor), createSizeLimit(), instructionInData];
}
