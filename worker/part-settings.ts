import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { BucketSettings } from '../activities/adapters/postgres-store/bucket.ts';
import { BadKeys, readKeyRing, type KeyRing } from '../encryption/key-ring.ts';
import { fetchPageName, webResearchName } from '../activities/tools/registry/web-tools.ts';
import { hashBytes } from '../activities/text/bytes.ts';
import { bucket, database, folders, oneWord } from './setting-shapes.ts';

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

export interface ToolSettings {
  /** `PLANWAVE_TOOLS` as an absolute path: a module with the owner's tools. If undefined, only the shipped ones. */
  readonly file: string | undefined;
  /** `PLANWAVE_READABLE_FILES`: patterns of private or ignored files that agents may read. Default: none. */
  readonly readable: readonly string[];
  /** `PLANWAVE_UNTRUSTED_WORKSPACES=1`: strangers may have written the files of workspaces. Default: they are trusted. */
  readonly untrustedWorkspaces: boolean;
  /** `PLANWAVE_MCP`: absolute paths of files with MCP servers. Default: none. */
  readonly mcpFiles: readonly string[];
}

/** Variables of agents' tools, each with what is expected of it. */
export const toolVariables = {
  PLANWAVE_TOOLS: z
    .string()
    .regex(/^[^\p{Cc}]{1,4000}\.m?[jt]s$/u, 'the path of an ES module. Try: ./tools.mjs')
    .transform((path) => resolve(path))
    .optional(),
  PLANWAVE_READABLE_FILES: z
    .string()
    .regex(
      /^[^\p{Cc}]{0,4000}$/u,
      'patterns as in a .gitignore, joined by ":". Try: .env.example:config/local.json',
    )
    .transform((text) => text.split(':').filter((pattern) => pattern !== ''))
    .default([]),
  PLANWAVE_UNTRUSTED_WORKSPACES: z
    .enum(['0', '1'], '1 if strangers may have written files of workspaces, or 0. Try: 0')
    .default('0'),
  PLANWAVE_MCP: folders().default([]),
};

type ToolVariables = z.infer<z.ZodObject<typeof toolVariables>>;

export function toToolSettings(read: ToolVariables): ToolSettings {
  return {
    file: read.PLANWAVE_TOOLS,
    readable: read.PLANWAVE_READABLE_FILES,
    untrustedWorkspaces: read.PLANWAVE_UNTRUSTED_WORKSPACES === '1',
    mcpFiles: read.PLANWAVE_MCP,
  };
}

export interface WebSettings {
  /** `PLANWAVE_WEB=off`: no agent can be granted such a tool. Default: on. */
  readonly on: boolean;
  /** `PLANWAVE_WEB_MODEL`: model of the nested calls of `web_research`. If undefined, that of the agent. */
  readonly model: string | undefined;
  /** `PLANWAVE_WEB_HOSTS`: hosts that `fetch_page` may open. Default: none, and then there is no such tool. */
  readonly hosts: readonly string[];
}

export const webDefaults: WebSettings = { on: true, model: undefined, hosts: [] };

/** Variables of the web, each with what is expected of it. */
export const webVariables = {
  PLANWAVE_WEB: z.enum(['on', 'off'], '"on" or "off". Try: off').default('on'),
  PLANWAVE_WEB_MODEL: oneWord('the name of a model, in one word. Try: haiku').optional(),
  PLANWAVE_WEB_HOSTS: z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((host) => host.trim().toLowerCase())
        .filter((host) => host !== ''),
    )
    .refine(
      (hosts) =>
        hosts.every(
          (host) =>
            isIP(host) === 0 && /^(?:\*\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10}$/u.test(host),
        ),
      'names of hosts, joined by commas, "*." for all below one. Try: nodejs.org,*.python.org',
    )
    .default([]),
};

type WebVariables = z.infer<z.ZodObject<typeof webVariables>>;

export function toWebSettings(read: WebVariables): WebSettings {
  return {
    on: read.PLANWAVE_WEB === 'on',
    model: read.PLANWAVE_WEB_MODEL,
    hosts: read.PLANWAVE_WEB_HOSTS,
  };
}

/** Says for each tool of the web that this worker lacks why, and what helps. */
export function describeMissingWeb({ on, hosts }: WebSettings): Readonly<Record<string, string>> {
  if (!on) {
    const off = 'this worker does not reach the web (PLANWAVE_WEB=off). Try: PLANWAVE_WEB=on';
    return { [webResearchName]: off, [fetchPageName]: off };
  }
  if (hosts.length > 0) return {};
  return { [fetchPageName]: 'no host is allowed. Try: PLANWAVE_WEB_HOSTS=nodejs.org' };
}

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

/** Returns true when spans have a destination. */
export function isTraced(env: NodeJS.ProcessEnv): boolean {
  return traceUrlOf(env) !== undefined;
}

/** Returns the address that spans are sent to, as the OpenTelemetry SDK composes it; undefined when they have no destination. */
export function traceUrlOf(env: NodeJS.ProcessEnv): string | undefined {
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT']?.trim();
  if (!base) return undefined;
  const own = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']?.trim();
  return own || `${base.replace(/\/$/, '')}/v1/traces`;
}
