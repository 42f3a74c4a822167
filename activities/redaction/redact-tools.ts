import type { Redactor } from '../ports/redactor.ts';
import type { Tool, ToolRegistry } from '../tools/tool.ts';
import { redactFailure } from './redact-failure.ts';

/** Tools whose results and errors hold no secret. Results are cut to size afterwards, and half a secret is not known for one. */
export function redactTools(tools: ToolRegistry, redactor: Redactor): ToolRegistry {
  return new Map([...tools].map(([name, tool]) => [name, redactTool(tool, redactor)]));
}

function redactTool(tool: Tool, redactor: Redactor): Tool {
  const redacted = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return redactor.redactValue(await work(), 'tool');
    } catch (error) {
      throw redactFailure(error, redactor);
    }
  };
  // What it reads came from the model, and was redacted then.
  if (tool.effect === 'state') return tool;
  if (tool.effect === 'read') {
    return { ...tool, run: (input, context) => redacted(() => tool.run(input, context)) };
  }
  return {
    ...tool,
    describeLoss: (input, context) =>
      redacted(async () => (await tool.describeLoss?.(input, context)) ?? null),
    look: (input, context) => redacted(() => tool.look(input, context)),
    act: (input, context) =>
      redacted(() =>
        tool.act(input, {
          ...context,
          // All of it: a secret may begin some lines above the one that is shown.
          onTail: (read) => context.onTail?.(() => redactor.redactText(read(), 'tool')),
        }),
      ),
    check: (input, before, context) => redacted(() => tool.check(input, before, context)),
  };
}
