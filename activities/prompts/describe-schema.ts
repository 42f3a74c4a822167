import { z } from 'zod';
import { jsonBlock } from '../text/blocks.ts';

/**
 * The shape of a final answer as text, for a provider that takes it in no other way. It ends the system prompt, where it is
 * the same in all later calls of the conversation.
 */
export function describeSchema(schema: z.ZodType): string {
  const { $schema: _dialect, ...shape } = z.toJSONSchema(schema);
  return `# The shape of your final answer
Your final answer is one JSON object that this JSON Schema allows, and nothing before or after it: no prose and no code fence. Every required property is there, and no property that is not listed.
${jsonBlock('output_schema', shape)}`;
}
