import { z } from 'zod';
import { hashBytes } from '../activities/text/bytes.ts';
import { oneWord } from './setting-shapes.ts';

/** Settings of the task queue of model calls. */
export interface ModelQueueSettings {
  /** `PLANWAVE_MODEL_QUEUE`. Default: named after the account at the provider. */
  readonly queue: string;
  /**
   * `PLANWAVE_MODEL_RATE`: calls that begin in a second, over all workers. Runs that are opened use the queue. If undefined,
   * they don't, and calls of earlier runs begin without a limit.
   */
  readonly rate: number | undefined;
}

const rateExpected = 'model calls a second, more than 0 and less than 10,000. Try: 5, or 0.5';

/** Variables of the task queue of model calls, each with what is expected of it. */
export const modelQueueVariables = {
  PLANWAVE_MODEL_RATE: z
    .string()
    .regex(/^\d{1,4}(?:\.\d{1,3})?$/, rateExpected)
    .transform(Number)
    .refine((rate) => rate > 0, rateExpected)
    .optional(),
  PLANWAVE_MODEL_QUEUE: oneWord('a name in one word. Try: planwave-models').optional(),
};

/** @returns undefined when neither variable is set. */
export function toModelQueueSettings(read: {
  readonly PLANWAVE_MODEL_RATE?: number | undefined;
  readonly PLANWAVE_MODEL_QUEUE?: string | undefined;
  readonly PLANWAVE_TASK_QUEUE: string;
  readonly ANTHROPIC_API_KEY?: string | undefined;
  readonly ANTHROPIC_BASE_URL?: string | undefined;
}): ModelQueueSettings | undefined {
  const { PLANWAVE_MODEL_RATE: rate, PLANWAVE_MODEL_QUEUE: name } = read;
  if (rate === undefined && name === undefined) return undefined;
  const account = nameAccount({
    apiKey: read.ANTHROPIC_API_KEY ?? '',
    baseUrl: read.ANTHROPIC_BASE_URL,
  });
  return { queue: name ?? `${read.PLANWAVE_TASK_QUEUE}-model-${account}`, rate };
}

/** Names the account at the provider, so that workers with the same key agree, and nobody learns the key. */
export function nameAccount({
  apiKey,
  baseUrl = '',
}: {
  readonly apiKey: string;
  readonly baseUrl: string | undefined;
}): string {
  return hashBytes(`${baseUrl}\n${apiKey}`).slice(0, 12);
}
