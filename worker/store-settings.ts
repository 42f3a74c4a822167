import { z } from 'zod';
import { BadKeys, readKeyRing } from '../encryption/key-ring.ts';
import type { KeyRing } from '../encryption/key-ring.ts';
import { database } from './setting-shapes.ts';

/** Settings of where and how content is stored, which workers and clients share. */
export interface StoreSettings {
  /**
   * `PLANWAVE_STORE_URL`, a PostgreSQL database for everything that is stored, which workers with other homes share. If
   * undefined, files in `home`.
   */
  readonly storeUrl: string | undefined;
  /**
   * `PLANWAVE_THREADS_URL`, a PostgreSQL database for the threads of teams. If undefined, that of `storeUrl`, or a file in
   * `home`.
   */
  readonly threadsUrl: string | undefined;
  /** `PLANWAVE_KEYS`, `id:key,…`: the first encrypts what is stored and sent, all decrypt. By default there are none. */
  readonly keys: KeyRing;
}

/** Variables of the store, each with what is expected of it. */
export const storeVariables = {
  PLANWAVE_STORE_URL: database().optional(),
  PLANWAVE_THREADS_URL: database().optional(),
  PLANWAVE_KEYS: z
    .string()
    .optional()
    .transform((text, context) => {
      try {
        return readKeyRing(text);
      } catch (error) {
        if (!(error instanceof BadKeys)) throw error;
        context.addIssue({ code: 'custom', message: error.message });
        return z.NEVER;
      }
    }),
};

type StoreVariables = z.infer<z.ZodObject<typeof storeVariables>>;

export function toStoreSettings(read: StoreVariables): StoreSettings {
  return {
    storeUrl: read.PLANWAVE_STORE_URL,
    threadsUrl: read.PLANWAVE_THREADS_URL,
    keys: read.PLANWAVE_KEYS,
  };
}
