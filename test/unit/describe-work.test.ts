import type { AttemptWork } from '../../activities/attempt/heartbeat.ts';
import { describeWork, placeWork } from '../../worker/work-place.ts';
import { usageOf } from '../support/factories.ts';

const call: AttemptWork = {
  kind: 'model_call',
  agent_id: 'writer',
  delegation_id: 'design.d2.d1',
  turn: 3,
  model: 'm',
};

it('a log line names agent, delegation, task and turn, and of what is no task nothing', () => {
  expect(placeWork(call)).toEqual({
    agent: 'writer',
    delegation: 'design',
    task: 'd2.d1',
    turn: 3,
  });
  expect(placeWork({ ...call, delegation_id: 'design' })).toEqual({
    agent: 'writer',
    delegation: 'design',
    turn: 3,
  });
  expect(placeWork({ kind: 'model_call', agent_id: 'planner' })).toEqual({ agent: 'planner' });
  expect(placeWork(undefined)).toEqual({});
});

it('input in a span is all input, as the conventions count it', () => {
  const usage = {
    ...usageOf(1),
    cache_creation_input_tokens: 20,
    cache_read_input_tokens: 3,
  };
  expect(describeWork({ ...call, usage })).toEqual({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.agent.name': 'writer',
    'gen_ai.request.model': 'm',
    'gen_ai.usage.input_tokens': 1_023,
    'gen_ai.usage.cache_creation.input_tokens': 20,
    'gen_ai.usage.cache_read.input_tokens': 3,
    'gen_ai.usage.output_tokens': 100,
    'planwave.delegation': 'design',
    'planwave.task': 'd2.d1',
    'planwave.turn': 3,
  });
});

it('a call that was not made used nothing', () => {
  expect(describeWork({ ...call, usage: usageOf(0) })).toEqual(describeWork(call));
});

it('a tool is named, unless the model wrote what is no name', () => {
  const made: AttemptWork = { kind: 'tool_call', agent_id: 'writer' };
  expect(describeWork({ ...made, tool: 'load_detail' })).toEqual({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.agent.name': 'writer',
    'gen_ai.tool.name': 'load_detail',
  });
  expect(describeWork({ ...made, tool: 'a text of the model' })).not.toHaveProperty([
    'gen_ai.tool.name',
  ]);
});
