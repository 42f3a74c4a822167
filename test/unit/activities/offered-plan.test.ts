import { toOutputFormat } from '../../../activities/adapters/anthropic/json-schemas.ts';
import { PassingOutput } from '../../../contracts/agent-output.ts';
import { OfferedWavePlan } from '../../../activities/agent-turn/offered-plan.ts';
import { outputSchemas, readOutput } from '../../../activities/agent-turn/read-output.ts';
import { delegationOf, plan } from './bench.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Fields that may be left out, of all objects below `node`. */
function countOptional(node: unknown): number {
  if (!isObject(node)) return 0;
  const below = Object.values(node).reduce<number>((sum, one) => sum + countOptional(one), 0);
  const { properties, required } = node;
  if (!isObject(properties)) return below;
  return below + Object.keys(properties).length - (Array.isArray(required) ? required.length : 0);
}

it.each([...Object.entries(outputSchemas), ['passing_output', PassingOutput] as const])(
  'the schema of a %s keeps what the provider makes a grammar of',
  (_shape, schema) => {
    const format = toOutputFormat(schema);
    expect(countOptional(format.schema)).toBeLessThanOrEqual(24);
    expect(JSON.stringify(format).length).toBeLessThan(8_000);
  },
);

it('a triad stands in the schema of a plan once: a member of a team is offered none', () => {
  const { schema } = toOutputFormat(OfferedWavePlan);
  expect(JSON.stringify(schema).match(/"rounds_max":/g)).toHaveLength(1);
});

it('what is not offered of a team is understood all the same', () => {
  const members = ['a', 'b', 'c'].map((name) => ({
    name,
    role: 'peer' as const,
    agent_id: 'writer',
  }));
  const team = {
    max_parallel: 2,
    members: [
      { id: 'writer', priority: 2 },
      { id: 'three', triad: { type: 'consensus' as const, reason: 'r', members } },
    ],
  };
  const value = { ...plan, delegations: [delegationOf({ team })] };
  const read = readOutput('wave_plan', JSON.stringify(value));
  expect(read).toEqual({ ok: true, output: { shape: 'wave_plan', value } });
});

it('every offered plan is a plan', () => {
  const team = { team_id: 'desk', timeout: 900, members: [{ id: 'x', team_id: 'desk' }] };
  const value = OfferedWavePlan.parse({ ...plan, delegations: [delegationOf({ team })] });
  expect(readOutput('wave_plan', JSON.stringify(value))).toMatchObject({ ok: true });
});
