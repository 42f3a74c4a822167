import type { Attributes } from '@opentelemetry/api';
import type { AttemptWork } from '../activities/attempt/heartbeat.ts';
import type { Usage } from '../contracts/usage.ts';
import { namePath, taskOwner } from '../core/ids.ts';

/** Delegation, agent, task and turn of some work, which logs and traces name besides run and wave. */
interface WorkPlace {
  /** Absent for work of the planner. */
  readonly delegation?: string;
  readonly agent?: string;
  /** Path of names of a team's task, as in `Place`. Absent for other work. */
  readonly task?: string;
  readonly turn?: number;
}

export function placeWork(work: AttemptWork | undefined): WorkPlace {
  if (work === undefined) return {};
  const { agent_id, delegation_id = '', turn } = work;
  const task = namePath(delegation_id);
  return {
    ...(delegation_id !== '' && { delegation: taskOwner(delegation_id) }),
    agent: agent_id,
    ...(task !== '' && { task }),
    ...(turn !== undefined && { turn }),
  };
}

/** Matches names of tools that providers accept; any other name from a model is not shown. */
const toolName = /^[\w-]{1,64}$/;

/**
 * Returns the attributes of an attempt's span, named by OpenTelemetry's semantic conventions for generative AI where
 * they have a name.
 */
export function describeWork(work: AttemptWork): Attributes {
  const { delegation, task, turn } = placeWork(work);
  return {
    ...(work.kind === 'tool_call'
      ? { 'gen_ai.operation.name': 'execute_tool' }
      : // The provider of the API, whichever model answers.
        { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'anthropic' }),
    'gen_ai.agent.name': work.agent_id,
    ...(delegation !== undefined && { 'planwave.delegation': delegation }),
    ...(task !== undefined && { 'planwave.task': task }),
    ...(turn !== undefined && { 'planwave.turn': turn }),
    ...(work.model !== undefined && { 'gen_ai.request.model': work.model }),
    ...(work.tool !== undefined && toolName.test(work.tool) && { 'gen_ai.tool.name': work.tool }),
    ...(work.usage !== undefined && work.usage.calls > 0 && describeUsage(work.usage)),
  };
}

/** Counts use by the conventions, in which tokens read from and written to the cache are input. */
function describeUsage(usage: Usage): Attributes {
  const { cache_creation_input_tokens: created, cache_read_input_tokens: read } = usage;
  return {
    'gen_ai.usage.input_tokens': usage.input_tokens + created + read,
    'gen_ai.usage.cache_creation.input_tokens': created,
    'gen_ai.usage.cache_read.input_tokens': read,
    'gen_ai.usage.output_tokens': usage.output_tokens,
  };
}
