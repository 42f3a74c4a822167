import type { z } from 'zod';
import type { Ref } from '../../../contracts/ref.ts';
import type { ReadStateCall, StateCall, StateToolName } from '../../../contracts/state-call.ts';
import type { ArtifactStore } from '../../ports/artifact-store.ts';
import type { ToolSpec } from '../../ports/model-client.ts';
import { describeIssues } from '../../text/describe-issues.ts';

/**
 * A tool that only puts something into the records of a triad, or asks them, or gives a task to a member of a team. The
 * workflow decides the call from its own state (seeds 001 and 002); all that is left to do outside is to read the arguments and to keep their texts.
 *
 * None of them is in the worker's `ToolRegistry`: no agent file can grant one, and `runTool` knows none.
 */
export interface StateTool {
  readonly spec: ToolSpec;
  readonly effect: 'state';
  /**
   * Reads the arguments strictly. With a fault in them, nothing is stored.
   *
   * @throws StoreUnavailable
   */
  read(input: unknown, store: ArtifactStore): Promise<ReadStateCall>;
}

type PutText = (text: string) => Promise<Ref>;

interface StateToolInit<S extends z.ZodType> {
  readonly name: StateToolName;
  readonly input: S;
  /** Written for a model: when to use it, and its limits. */
  readonly description: string;
  /** The one example that the description ends with. */
  readonly example: z.input<S>;
  readonly toCall: (input: z.output<S>, put: PutText) => Promise<StateCall>;
}

export function createStateTool<S extends z.ZodType>(init: StateToolInit<S>): StateTool {
  const { name, input: schema, toCall } = init;
  const description = `${init.description} Example: ${JSON.stringify(init.example)}`;
  return {
    spec: { name, description, input: schema },
    effect: 'state',
    async read(input, store) {
      const parsed = schema.safeParse(input);
      if (!parsed.success) return { ok: false, tool: name, faults: describeIssues(parsed.error) };
      return { ok: true, call: await toCall(parsed.data, (text) => store.put(text)) };
    },
  };
}
