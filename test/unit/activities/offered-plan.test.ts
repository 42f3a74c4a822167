import { toOutputFormat } from '../../../activities/adapters/anthropic/json-schemas.ts';
import { offerPlan } from '../../../activities/stages/plan.ts';
import { stages } from '../../../activities/stages/stages.ts';
import { sayJson } from '../../support/scripted-model.ts';
import { createToolRegistry } from '../../../activities/tools/registry/create-registry.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { createBench, delegationOf, plan, written } from './bench.ts';
import { listSchemas, planPrompt } from './prompt-bench.ts';

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

const everyPart = { triads: true, teams: true, redoes: true };

/** A plan as the engine keeps it. */
async function readPlan(value: unknown): Promise<string> {
  const context = {
    store: createMemoryStore(),
    passable: undefined,
    planning: null,
    messages: [],
    content: [],
    tools: createToolRegistry([]),
  };
  const taken = await stages.plan.reply.take(JSON.stringify(value), context);
  if (!taken.ok) throw new Error(JSON.stringify(taken.faults));
  return taken.text;
}
it.each(listSchemas())(
  'the schema of %s keeps what the provider makes a grammar of',
  (_stage, schema) => {
    const format = toOutputFormat(schema);
    expect(countOptional(format.schema)).toBeLessThanOrEqual(24);
    // A provider that refuses it is asked for a smaller form.
    expect(JSON.stringify(format).length).toBeLessThan(9_000);
  },
);

it('a plan without triads and teams is far below the size at which schemas were refused: some 8 KB', () => {
  const { schema } = toOutputFormat(offerPlan({ triads: false, teams: false, redoes: true }));
  expect(JSON.stringify(schema).length).toBeLessThan(6_000);
});

it('a triad stands in the schema of a plan once: a member of a team is offered none', () => {
  const { schema } = toOutputFormat(offerPlan(everyPart));
  expect(JSON.stringify(schema).match(/"rounds_max":/g)).toHaveLength(1);
});

it('what is not offered of a team is understood all the same', async () => {
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
  const executor = { kind: 'team' as const, ...team };
  const value = { ...plan, delegations: [delegationOf({ executor })] };
  expect(JSON.parse(await readPlan(written(value)))).toMatchObject({ delegations: [{ executor }] });
});

it('every offered plan is a plan', async () => {
  const team = { team_id: 'desk', timeout: 900, members: [{ id: 'x', team_id: 'desk' }] };
  const { provided_inputs: _provided, executor: _executor, ...offered } = delegationOf();
  const value = offerPlan(everyPart).parse({
    ...plan,
    criteria_waived: [],
    criteria_met_by_answer: [],
    delegations: [{ ...offered, team, needs: 'completed' }],
  });
  expect(JSON.parse(await readPlan(value))).toMatchObject({
    delegations: [{ executor: { kind: 'team', ...team } }],
  });
});

it.each([
  [{ triads: false, teams: false, redoes: false }, []],
  [{ triads: true, teams: false, redoes: false }, ['triad', 'lens', 'rounds_max', 'turn_seconds']],
  [{ triads: false, teams: true, redoes: false }, ['team', 'members', 'member_timeout']],
  [{ triads: false, teams: false, redoes: true }, ['redoes']],
])('finding P2: the schema of a plan holds what the run allows: %j', (parts, names) => {
  const sent = JSON.stringify(toOutputFormat(offerPlan(parts)).schema);
  const optional = ['triad', 'lens', 'rounds_max', 'turn_seconds', 'team', 'member_timeout'];
  const held = [...optional, 'redoes'].filter((name) => sent.includes(`"${name}":`));
  expect(held.toSorted()).toEqual(names.filter((name) => name !== 'members').toSorted());
  expect(/triad/iu.test(sent)).toBe(parts.triads);
  expect(/team/iu.test(sent)).toBe(parts.teams);
});

it('finding P6: a plan is kept with what follows from its names, though the planner did not say it', async () => {
  const [draft, check] = written({
    ...plan,
    delegations: [
      delegationOf({ delegation_id: 'draft', produces: ['text'] }),
      delegationOf({
        delegation_id: 'check',
        required_inputs: ['text', 'goal'],
        provided_inputs: [],
        produces: [],
      }),
    ],
  }).delegations;
  const said = { ...plan, delegations: [{ ...draft, provided_inputs: undefined }, check] };
  const bench = await createBench({ scripts: [sayJson(said)] });
  const asked = { agent_id: 'planner', stage: 'plan', append: planPrompt(bench) } as const;
  const { reply } = await bench.turn(asked);
  const kept =
    reply.type === 'output' && reply.outline.shape === 'wave_plan' ? reply.outline.plan : null;
  const linked = [
    { delegation_id: 'draft', provided_inputs: ['goal'], depends_on: [] },
    { delegation_id: 'check', provided_inputs: ['goal'], depends_on: ['draft'] },
  ];
  expect(kept?.delegations).toMatchObject(linked);
  expect(JSON.parse(await bench.store.getText(kept?.plan_ref ?? ''))).toMatchObject({
    delegations: linked,
  });
});
