import type { Redactor } from '../ports/redactor.ts';
import type { Tool, ToolRegistry } from '../tools/tool.ts';
import { redactFailure } from './redact-failure.ts';

/** Tools whose results and errors hold no secret. Results are cut to size afterwards, and half a secret is not known for one. */
export function redactTools(tools: ToolRegistry, redactor: Redactor): ToolRegistry {
  return new Map([...tools].map(([name, tool]) => [name, redactTool(tool, redactor)]));
}

function redactTool(tool: Tool, redactor: Redactor): Tool {
  return {
    ...tool,
    async run(input, context) {
      try {
        return redactor.redactText(await tool.run(input, context), 'tool');
      } catch (error) {
        throw redactFailure(error, redactor);
      }
    },
  };
}
