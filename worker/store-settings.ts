import { z } from 'zod';
import type { BucketSettings } from '../activities/adapters/postgres-store/bucket.ts';
import { BadKeys, readKeyRing } from '../encryption/key-ring.ts';
import type { KeyRing } from '../encryption/key-ring.ts';
import { bucket, database } from './setting-shapes.ts';

/** Settings of where and how content is stored, which workers and clients share. */
export interface StoreSettings {
  /**
   * `PLANWAVE_STORE_URL`, a PostgreSQL database for everything that is stored, which workers with other homes share. If
   * undefined, files in `home`.
   */
  readonly storeUrl: string | undefined;
  /**
   * `PLANWAVE_ARTIFACTS_URL` with `AWS_ACCESS_KEY_ID` and so on: a bucket for artifacts beside `storeUrl`. If undefined, they are in
   * the database.
   */
  readonly artifacts: BucketSettings | undefined;
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
  PLANWAVE_ARTIFACTS_URL: bucket().optional(),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
  AWS_REGION: z.string().optional(),
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

/** Returns what is wrong with settings that are right one by one, and a cure; null when nothing is. */
export function findStoreFault(read: StoreVariables): string | null {
  if (read.PLANWAVE_ARTIFACTS_URL === undefined) return null;
  if (read.PLANWAVE_STORE_URL === undefined) {
    return (
      'PLANWAVE_ARTIFACTS_URL needs PLANWAVE_STORE_URL: only artifacts can be in a bucket.\n' +
      'Try: name a PostgreSQL database too, or leave both empty for files in PLANWAVE_HOME.'
    );
  }
  if (read.AWS_ACCESS_KEY_ID !== undefined && read.AWS_SECRET_ACCESS_KEY !== undefined) return null;
  return 'PLANWAVE_ARTIFACTS_URL needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.\nTry: set both, as the service gave them.';
}

export function toStoreSettings(read: StoreVariables): StoreSettings {
  return {
    storeUrl: read.PLANWAVE_STORE_URL,
    artifacts:
      read.PLANWAVE_ARTIFACTS_URL === undefined
        ? undefined
        : {
            url: read.PLANWAVE_ARTIFACTS_URL,
            accessKeyId: read.AWS_ACCESS_KEY_ID ?? '',
            secretAccessKey: read.AWS_SECRET_ACCESS_KEY ?? '',
            sessionToken: read.AWS_SESSION_TOKEN,
            region: read.AWS_REGION,
          },
    threadsUrl: read.PLANWAVE_THREADS_URL,
    keys: read.PLANWAVE_KEYS,
  };
}
