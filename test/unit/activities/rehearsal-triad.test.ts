import { createAnthropicClient } from '../../../activities/adapters/anthropic/anthropic-client.ts';
import { checkExecutors } from '../../../core/plan/check-executors.ts';
import type { SpecState } from '../../../contracts/spec.ts';
import { startRehearsalServer } from '../../../rehearsal/server/server.ts';
import type { RehearsalServer } from '../../../rehearsal/server/server.ts';
import { agents, createBench } from './bench.ts';
import { planPrompt } from './prompt-bench.ts';
import { playTriad } from './triad-room.ts';
import type { PlayedTriad } from './triad-room.ts';
import type { TriadType } from '../../../contracts/triad.ts';

/** Whole triads of rehearsed members, judged by the engine's own rules. */
let server: RehearsalServer;
beforeAll(async () => {
  server = await startRehearsalServer({ port: 0, thinkMs: 0 });
});
afterAll(() => server.close());

const three = { ovens: 'Which ovens.', shop: 'Which shop.', staff: 'Who works there.' };
const play = (
  type: TriadType,
  sections: Readonly<Record<string, string>>,
  task?: string,
): Promise<PlayedTriad> => playTriad(server, type, sections, task);

const ownersOf = ({ sections }: SpecState): Record<string, string | null> =>
  Object.fromEntries(sections.map(({ section_id, owner }) => [section_id, owner]));

const unmetIn = ({ output }: PlayedTriad): string[] =>
  output.coverage.criteria_unmet.map((one) => one.criterion_id);

test.each(['', ':hierarchical', ':consensus'])(
  'a plan for [triad%s] keeps the rules of triads',
  async (type) => {
    const bench = await createBench({
      deps: { model: createAnthropicClient({ apiKey: 'sk-test', baseUrl: server.url }) },
      record: { goal: `Open a bakery [triad${type}]` },
    });
    const { reply } = await bench.turn({
      agent_id: 'planner',
      stage: 'plan',
      max_output_tokens: 16_000,
      append: planPrompt(bench, { wave: 1, triad_models: [] }),
    });
    if (reply.type !== 'output' || reply.outline.shape !== 'wave_plan') throw new Error(reply.type);
    const { delegations } = reply.outline.plan;
    expect(delegations.filter(({ executor }) => executor.kind === 'triad')).toHaveLength(1);
    expect(checkExecutors(delegations, { agents, triads: true, models: [], teams: null })).toEqual(
      [],
    );
  },
);

test('a dialectic triad revises one claim, agrees in the first round, and finishes', async () => {
  const played = await play('dialectic', three);
  expect(played.replies).toEqual([
    'deliberate proposer 1: register_claim register_claim register_claim',
    'deliberate critic 1:',
    'deliberate synthesizer 1: submit_summary',
    'negotiate critic 1: negotiate_response negotiate_response negotiate_response',
    'negotiate proposer 1: negotiate_response',
    'negotiate synthesizer 1: negotiate_response negotiate_response negotiate_response submit_summary',
    'execute synthesizer 1:',
  ]);
  expect(played.refused).toEqual([]);
  // The output passes on what was agreed.
  expect(played.output.detailed_md).toContain('Rehearsal, revised by critic: and say what speaks');
  expect(played.output.detailed_md).toContain('A rehearsed proposal for staff');
  expect(played.specs.negotiate.claims.map(({ revision }) => revision)).toEqual([2, 1, 1]);
  expect(ownersOf(played.specs.execute)).toEqual({
    ovens: 'proposer',
    shop: 'proposer',
    staff: 'proposer',
  });
  expect(unmetIn(played)).toEqual([]);
});

test('an orchestrator shares out the sections, sends both workers at once, and ends', async () => {
  const played = await play('hierarchical', three);
  expect(played.replies).toEqual([
    'deliberate orchestrator 1: register_claim register_claim register_claim assign_turn assign_turn',
    'deliberate worker-1 1:',
    'deliberate worker-2 1:',
    'deliberate orchestrator 2:',
    'deliberate orchestrator 2:',
    'deliberate worker-1 1: submit_summary',
    'negotiate orchestrator 1: assign_turn assign_turn',
    'negotiate worker-1 1: negotiate_response negotiate_response negotiate_response',
    'negotiate worker-2 1: negotiate_response negotiate_response negotiate_response',
    'execute orchestrator 1:',
    'execute worker-1 1:',
  ]);
  expect(played.refused).toEqual([]);
  expect(ownersOf(played.specs.execute)).toEqual({
    ovens: 'worker-1',
    shop: 'worker-2',
    staff: 'worker-1',
  });
});

test('peers share the sections by their places, and agree', async () => {
  const played = await play('consensus', three);
  expect(played.refused).toEqual([]);
  expect(ownersOf(played.specs.negotiate)).toEqual({
    ovens: 'peer-1',
    shop: 'peer-2',
    staff: 'peer-3',
  });
  expect(unmetIn(played)).toEqual([]);
});

test('of rival claims the first one stands, in one round', async () => {
  const played = await play('consensus', { ovens: 'Which ovens.' });
  expect(played.refused).toEqual([]);
  expect(played.specs.deliberate.claims).toHaveLength(3);
  expect(played.specs.negotiate.claims.map(({ state }) => state)).toEqual([
    'settled',
    'withdrawn',
    'withdrawn',
  ]);
  expect(played.replies.filter((one) => one.startsWith('negotiate peer-1'))).toEqual([
    'negotiate peer-1 1: negotiate_response negotiate_response',
  ]);
});

const types = ['dialectic', 'hierarchical', 'consensus'] as const;

test.each(types)(
  '[disagree] leaves one section of a %s triad disputed to the end',
  async (type) => {
    const marked = { ...three, shop: 'Which shop. [disagree]' };
    const played = await play(type, marked);
    expect(played.refused).toEqual([]);
    const { claims, sections } = played.specs.execute;
    const disputed = claims.find(({ section_id }) => section_id === 'shop');
    expect(disputed?.state).toBe('dissent');
    const holds = disputed?.responses.filter(({ decision }) => decision === 'HOLD') ?? [];
    expect(holds.map(({ round }) => round)).toEqual([1, 2, 3]);
    expect(new Set(holds.map(({ member }) => member)).size).toBe(1);
    expect(unmetIn(played)).toEqual(['shop']);
    expect(sections.map(({ status }) => status)).toEqual(['done', 'open', 'done']);
  },
);

test.each(types)('[disagree] in the task of a %s triad means its last section', async (type) => {
  const played = await play(type, three, 'Plan the bakery. [disagree]');
  expect(played.refused).toEqual([]);
  expect(unmetIn(played)).toEqual(['staff']);
});

test.each(types)(
  '[code] has the section of a %s triad written as code and nothing else',
  async (type) => {
    const played = await play(type, { ...three, shop: 'The till. [code]' });
    expect(played.refused).toEqual([]);
    const code = played.specs.execute.sections.filter(({ language }) => language !== null);
    expect(code).toMatchObject([{ section_id: 'shop', language: 'typescript', status: 'done' }]);
    expect(played.code).toEqual([expect.stringMatching(/^\/\/ Rehearsal: [^`]+\}$/u)]);
  },
);

test.each(types)('twelve sections of a %s triad are all done', async (type) => {
  const ids = Array.from({ length: 12 }, (_, at) => [`s${at + 1}`, `Part ${at + 1}.`]);
  const played = await play(type, Object.fromEntries(ids));
  expect(played.refused).toEqual([]);
  expect(played.specs.execute.sections.every(({ status }) => status === 'done')).toBe(true);
  expect(played.output.coverage.criteria_met).toHaveLength(12);
});
