import { z } from 'zod';
import { webResearchName } from '../activities/tools/registry/web-research.ts';
import { oneWord } from './setting-shapes.ts';

/** Settings of the tools that reach the web. */
export interface WebSettings {
  /** `PLANWAVE_WEB=off`: no agent can be granted such a tool. Default: on. */
  readonly on: boolean;
  /** `PLANWAVE_WEB_MODEL`: model of the nested calls of `web_research`. If undefined, that of the agent. */
  readonly model: string | undefined;
}

export const webDefaults: WebSettings = { on: true, model: undefined };

/** Variables of the web, each with what is expected of it. */
export const webVariables = {
  PLANWAVE_WEB: z.enum(['on', 'off'], '"on" or "off". Try: off').default('on'),
  PLANWAVE_WEB_MODEL: oneWord('the name of a model, in one word. Try: haiku').optional(),
};

type WebVariables = z.infer<z.ZodObject<typeof webVariables>>;

export function toWebSettings(read: WebVariables): WebSettings {
  return {
    on: read.PLANWAVE_WEB === 'on',
    model: read.PLANWAVE_WEB_MODEL,
  };
}

/** Says for each tool of the web that this worker lacks why, and what helps. */
export function describeMissingWeb({ on }: WebSettings): Readonly<Record<string, string>> {
  if (on) return {};
  const off = 'this worker does not reach the web (PLANWAVE_WEB=off). Try: PLANWAVE_WEB=on';
  return { [webResearchName]: off };
}
