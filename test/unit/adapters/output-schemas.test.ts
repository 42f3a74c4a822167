import { createAnthropicClient } from '../../../activities/adapters/anthropic/anthropic-client.ts';
import type { ReplyFunction } from '../../../rehearsal/script.ts';
import { z } from 'zod';
import { createBench, outputOf, plan, written } from '../activities/bench.ts';
import { listSchemas, planPrompt } from '../activities/prompt-bench.ts';
import { apiKey, callOptions, request, startModelBench } from './model-bench.ts';
import type { ModelBench } from './model-bench.ts';

let bench: ModelBench;
beforeAll(async () => {
  bench = await startModelBench();
});
afterAll(() => bench.server.close());

type Node = Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** A schema with each definition where it is referred to. */
function resolveRefs(node: unknown, definitions: Node): unknown {
  if (Array.isArray(node)) return node.map((one) => resolveRefs(one, definitions));
  if (!isNode(node)) return node;
  const { $ref, ...rest } = node;
  if (typeof $ref === 'string') {
    if (Object.keys(rest).length > 0)
      throw new Error(`Beside ${$ref} stands ${JSON.stringify(rest)}.`);
    return resolveRefs(definitions[$ref.replace('#/$defs/', '')], definitions);
  }
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) =>
      key === '$defs' ? [] : [[key, resolveRefs(value, definitions)]],
    ),
  );
}

/** Each description of a schema, below the path at which it stands. */
function listDescriptions(node: unknown, path = '$'): readonly [string, string][] {
  if (!isNode(node)) return [];
  const { description } = node;
  const below = Object.entries(node).flatMap(([key, value]) =>
    listDescriptions(value, `${path}.${key === 'oneOf' ? 'anyOf' : key}`),
  );
  return typeof description === 'string' ? [[path, description], ...below] : below;
}

const schemaOf = (body: unknown): Node | null => {
  const config = isNode(body) ? body['output_config'] : null;
  const format = isNode(config) ? config['format'] : null;
  const schema = isNode(format) ? format['schema'] : null;
  return isNode(schema) ? schema : null;
};

it.each(listSchemas())(
  'finding P3: every description in the schema of %s reaches the API where it belongs',
  async (_stage, output) => {
    bench.server.reset();
    await bench.client.complete({ ...request, output }, callOptions());
    const schema = schemaOf(bench.server.calls()[0]?.body);
    const definitions = schema?.['$defs'];
    const whole = resolveRefs(schema, isNode(definitions) ? definitions : {});
    const sent = new Map(listDescriptions(whole));
    const intended = listDescriptions(z.toJSONSchema(output));
    expect(intended.length).toBeGreaterThan(0);
    for (const [path, description] of intended) {
      expect([path, sent.get(path)]).toEqual([path, expect.stringContaining(description)]);
    }
  },
);

/** The engine's turn with the real SDK, and a server that refuses what `refuses` says. */
async function openTurns(refuses: (schema: Node | null) => boolean, replies: readonly unknown[]) {
  const server = bench.server;
  server.reset();
  let taken = 0;
  const reply: ReplyFunction = ({ body }) => {
    if (refuses(schemaOf(body))) {
      const message = 'The compiled grammar is too large, simplify your output schema.';
      return { status: 400, message };
    }
    taken += 1;
    return { json: replies[taken - 1] };
  };
  server.script([{ reply }]);
  const model = createAnthropicClient({ apiKey, baseUrl: server.url });
  const turns = await createBench({ deps: { model } });
  const sentForms = () =>
    server.calls().map(({ body }) => {
      const schema = schemaOf(body);
      if (schema === null) return 'none';
      const text = JSON.stringify(schema);
      return [
        ...(text.includes('"team":') ? ['team'] : []),
        ...(text.includes('"triad":') ? ['triad'] : []),
        ...(listDescriptions(schema).length > 0 ? ['described'] : ['bare']),
      ].join(' ');
    });
  return { turns, sentForms, bodies: () => server.calls().map(({ body }) => body) };
}

const planning = (turns: Awaited<ReturnType<typeof createBench>>) =>
  ({
    agent_id: 'planner',
    stage: 'plan',
    append: planPrompt(turns, { triad_models: [], teams: true }),
  }) as const;

describe('finding P2: a schema that the API refuses is asked for in a smaller form', () => {
  it('M10, SCF1: a plan without triads and teams is the first', async () => {
    const { turns, sentForms } = await openTurns(
      (schema) => JSON.stringify(schema).includes('"team":'),
      [written(plan), written(plan)],
    );
    const { head, reply, usage } = await turns.turn(planning(turns));
    expect(reply.type).toBe('output');
    expect(usage.calls).toBe(1);
    expect(sentForms()).toEqual(['team triad described', 'described']);
    // The conversation remembers it: nothing is refused again.
    await turns.turn({ ...planning(turns), head, append: [{ type: 'faults', faults: [] }] });
    expect(sentForms().slice(2)).toEqual(['described']);
  });

  it('SCF1: then one without descriptions, and last none: the prompt describes it, and the engine checks', async () => {
    const broken = { ...outputOf(), compact_md: 7 };
    const { turns, sentForms, bodies } = await openTurns(
      (schema) => schema !== null,
      [broken, outputOf()],
    );
    const { head, reply, usage } = await turns.turn();
    expect(sentForms()).toEqual(['described', 'bare', 'none']);
    expect(usage.calls).toBe(1);
    expect(reply).toMatchObject({ type: 'malformed', faults: [{ path: 'compact_md' }] });
    const again = await turns.turn({ head, append: [{ type: 'faults', faults: [] }] });
    expect(again.reply.type).toBe('output');
    expect(sentForms().slice(3)).toEqual(['none']);
    const told = bodies().map((body) => JSON.stringify(isNode(body) ? body['system'] : null));
    expect(told.map((text) => text.includes('<output_schema>'))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(told[3]).toBe(told[2]);
    expect(told[2]).toContain('Understandable without other context');
  });

  it('SCF2: a plan that is offered neither is not asked for twice', async () => {
    const { turns, sentForms } = await openTurns(
      (schema) => listDescriptions(schema).length > 0,
      [written(plan)],
    );
    const append = planPrompt(turns, { triad_models: null, teams: false });
    await turns.turn({ ...planning(turns), append });
    expect(sentForms()).toEqual(['described', 'bare']);
  });

  it('another fault of a request is not taken for one of the schema', async () => {
    bench.server.reset();
    const message = 'tools.0.custom.input_schema: JSON schema is invalid';
    for (const text of [message, 'messages: at least one message is required']) {
      // oxlint-disable-next-line no-await-in-loop
      expect(await bench.fail({ status: 400, message: text })).toMatchObject({
        type: 'ModelRequest',
        refusesSchema: false,
      });
    }
  });
});
