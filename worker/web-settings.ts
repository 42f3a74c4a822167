import { z } from 'zod';
import { fetchPageName, webResearchName } from '../activities/tools/registry/web-tools.ts';
import { oneWord } from './setting-shapes.ts';

/** Settings of the tools that reach the web. */
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
        hosts.every((host) => /^(?:\*\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10}$/u.test(host)),
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
