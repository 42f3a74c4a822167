import type { Attributes } from '@opentelemetry/api';
import type { AttemptWork } from '../activities/attempt/attempt-work.ts';
import type { Usage } from '../contracts/usage.ts';
import { placeWork } from './place-work.ts';

/** As providers demand it of the names of tools; what a model wrote that is none is not shown. */
const toolName = /^[\w-]{1,64}$/;

/**
 * What the span of an attempt says of its call, by OpenTelemetry's semantic conventions for generative AI where they have a
 * name for it.
 */
export function describeWork(work: AttemptWork): Attributes {
  const { task, turn } = placeWork(work);
  return {
    ...(work.kind === 'tool_call'
      ? { 'gen_ai.operation.name': 'execute_tool' }
      : // Whoever answers: the API that is spoken.
        { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'anthropic' }),
    'gen_ai.agent.name': work.agent_id,
    ...(task !== undefined && { 'planwave.task': task }),
    ...(turn !== undefined && { 'planwave.turn': turn }),
    ...(work.model !== undefined && { 'gen_ai.request.model': work.model }),
    ...(work.tool !== undefined && toolName.test(work.tool) && { 'gen_ai.tool.name': work.tool }),
    ...(work.usage !== undefined && work.usage.calls > 0 && describeUsage(work.usage)),
  };
}

/** The conventions count what the cache gave and took as input. */
function describeUsage(usage: Usage): Attributes {
  const { cache_creation_input_tokens: created, cache_read_input_tokens: read } = usage;
  return {
    'gen_ai.usage.input_tokens': usage.input_tokens + created + read,
    'gen_ai.usage.cache_creation.input_tokens': created,
    'gen_ai.usage.cache_read.input_tokens': read,
    'gen_ai.usage.output_tokens': usage.output_tokens,
  };
}
