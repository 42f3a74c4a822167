import type { z } from 'zod';
import type { Ref } from '../../../contracts/ref.ts';
import type { StateCall, StateToolName } from '../../../contracts/state-call.ts';
import { describeIssues } from '../../text/describe-issues.ts';
import type { StateTool } from '../tool.ts';

type PutText = (text: string) => Promise<Ref>;

interface StateToolInit<S extends z.ZodType> {
  readonly name: StateToolName;
  readonly input: S;
  /** Description for a model: when to use it, and its limits. */
  readonly description: string;
  /** Example that the description ends with. */
  readonly example: z.input<S>;
  readonly toCall: (input: z.output<S>, put: PutText) => Promise<StateCall>;
  readonly rest?: Pick<StateTool, 'relate' | 'describeLeftOut'>;
}

/** Creates the entry of a state tool from its own parts. */
export function createStateTool<S extends z.ZodType>(init: StateToolInit<S>): StateTool {
  const { name, input: schema, toCall } = init;
  const description = `${init.description} Example: ${JSON.stringify(init.example)}`;
  return {
    spec: { name, description, input: schema },
    effect: 'state',
    name,
    offeredTo: ['turn'],
    ...init.rest,
    async read(input, store) {
      const parsed = schema.safeParse(input);
      if (!parsed.success) return { ok: false, tool: name, faults: describeIssues(parsed.error) };
      return { ok: true, call: await toCall(parsed.data, (text) => store.put(text)) };
    },
  };
}
