import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CoordinationPlan } from '../../../contracts/coordination-plan.ts';
import { createFileRunIndex } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { changeDesign, checkDesign, admitPlan } from '../../../activities/design/design-plan.ts';
import { findResearch, keepResearch } from '../../../activities/design/research.ts';
import { readRegistry } from '../../../activities/artifacts/read-artifact.ts';
import {
  findPlanFaults,
  storeCoordinationPlan,
} from '../../../activities/artifacts/read-reports.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { planAgents, planTask, samplePlan, withTask } from '../../support/plans.ts';

const store = createMemoryStore();
const none = '0'.repeat(64);
const home = mkdtempSync(join(tmpdir(), 'planwave-research-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function change(operations: readonly unknown[]) {
  const { plan_ref } = await storeCoordinationPlan(store, samplePlan());
  const ref = await store.put(JSON.stringify({ explanation: 'As asked.', operations }));
  const source = { type: 'design_change', ref } as const;
  const changed = await changeDesign(store, { plan_ref, registry_ref: none, source, now: 1 });
  return { plan_ref, changed };
}

describe('a change of a plan', () => {
  it('makes a new version with an address of its own', async () => {
    const { plan_ref, changed } = await change([
      { operation: 'change_summary', summary: 'Another summary.' },
    ]);
    expect(changed).toMatchObject({ type: 'changed', plan: { tasks: 4, proofs_of_concept: 1 } });
    expect(changed).not.toMatchObject({ plan: { plan_ref } });
  });

  it('that names no task goes back with path, reason and cure', async () => {
    const { changed } = await change([{ operation: 'remove_task', task_id: 'nothing_1727539200' }]);
    expect(changed).toMatchObject({
      type: 'refused',
      faults: [
        { reason: expect.stringContaining('nothing'), hint: expect.stringMatching(/^Try: /) },
      ],
    });
  });
});

describe('the check of a change during the work', () => {
  const api = 'api_1727539200';
  const schema = 'schema_1727539200';
  const code = { path: 'src/schema.sql', format: 'SQL' };
  const agents = planAgents.filter(({ agent_id }) => ['engineer', 'reviewer'].includes(agent_id));
  const registry_ref = store.put(
    JSON.stringify({
      agents: agents.map((one) => ({
        ...one,
        description: 'One.',
        prompt: 'Work.',
        capabilities: [],
        model: null,
      })),
      designers: [],
      teams: [],
    }),
  );
  const find = async (before: CoordinationPlan, after: CoordinationPlan, verified: string[]) => {
    const [{ plan_ref: before_ref }, { plan_ref }] = await Promise.all([
      storeCoordinationPlan(store, before),
      storeCoordinationPlan(store, after),
    ]);
    const input = { plan_ref, registry_ref: await registry_ref, change: { before_ref, verified } };
    const { findings } = await checkDesign(store, ['write_file'], input);
    return findings.map(({ rule, path }) => [rule, path]);
  };
  const hole = { title: 'Write {{what}}' };

  it('finds nothing that the approved plan has too, also at another place', async () => {
    const before = withTask(3, () => hole);
    const [first, ...tasks] = before.tasks;
    const after = { ...before, tasks: [first, planTask('more'), ...tasks].flatMap((t) => t ?? []) };
    expect(await find(before, after, [])).toEqual([]);
  });

  it('finds the same at another task', async () => {
    const before = withTask(3, () => hole);
    const after = { ...before, tasks: [...before.tasks, planTask('more', hole)] };
    expect(await find(before, after, [])).toEqual([['DP8', 'tasks/4/title']]);
  });

  it('lets a task write a file once more that another one has read', async () => {
    const before = withTask(
      2,
      ({ inputs }) => ({ inputs: [...inputs, { ...code, from: schema }] }),
      withTask(1, ({ outputs }) => ({ outputs: [...outputs, code] })),
    );
    const again = planTask('again', { outputs: [code], depends_on: [schema] });
    const after = { ...before, tasks: [...before.tasks, again] };
    expect(await find(before, after, [schema])).toEqual([['DP17', 'tasks/2/inputs/1/from']]);
    expect(await find(before, after, [schema, api])).toEqual([]);
  });
});

const draft = {
  agent_id: 'migrator',
  description: 'Moves data.',
  capabilities: [],
  tools: ['read_file'],
  risk_level: 'low',
  prompt: 'You move data.',
} as const;

it('adds the new agents of a plan to the registry, and a registered one keeps its file', async () => {
  const known = { ...draft, tools: undefined, allowed_tools: [], model: null, agent_id: 'writer' };
  const registry_ref = await store.put(
    JSON.stringify({ agents: [known], designers: [], teams: [] }),
  );
  const plan = samplePlan({
    new_agents: [
      { ...draft, tools: ['read_file'], capabilities: [] },
      { ...draft, tools: ['read_file'], capabilities: [], agent_id: 'writer' },
    ],
  });
  const { plan_ref } = await storeCoordinationPlan(store, plan);
  const admitted = await admitPlan(store, {}, { plan_ref, registry_ref, max_delegations: 8 });
  expect(admitted.agents.map(({ agent_id, allowed_tools }) => [agent_id, allowed_tools])).toEqual([
    ['migrator', ['read_file']],
    ['writer', []],
  ]);
  expect(admitted.registry_ref).not.toBe(registry_ref);
  expect(admitted.criterion_ids).toHaveLength(4);
});

it('a new agent works on the model that the run gives all agents', async () => {
  const { plan_ref } = await storeCoordinationPlan(
    store,
    samplePlan({ new_agents: [{ ...draft, tools: [], capabilities: [] }] }),
  );
  const snapshot = { agents: [], designers: [], teams: [], agents_model: 'opus' };
  const registry_ref = await store.put(JSON.stringify(snapshot));
  const admitted = await admitPlan(store, {}, { plan_ref, registry_ref, max_delegations: 8 });
  const { agents } = await readRegistry(store, admitted.registry_ref);
  expect(agents.map(({ agent_id, model }) => [agent_id, model])).toEqual([['migrator', 'opus']]);
});

it('finds a tool of a new agent that does not exist', () => {
  const plan = samplePlan({ new_agents: [{ ...draft, capabilities: [], tools: ['fly'] }] });
  const found = findPlanFaults(plan, planAgents, ['read_file']);
  expect(found.filter(({ rule }) => rule === 'tools')).toMatchObject([
    { path: 'new_agents/0/tools', cure: expect.stringContaining('read_file') },
  ]);
});

const researchDeps = { store, research: createFileRunIndex({ home, folder: 'research' }) };
const day = 86_400;

const registryWith = (allowed_tools: readonly string[]) =>
  store.put(
    JSON.stringify({
      agents: [],
      designers: [
        {
          ...draft,
          tools: undefined,
          agent_id: 'technology-researcher',
          model: null,
          allowed_tools,
        },
      ],
      teams: [],
    }),
  );
const keep = async (technology: string, url: string | null): Promise<void> => {
  const sources = [{ title: 'A source', url }];
  const text = { technology, practices: ['Index.'], failure_patterns: [], sources };
  const ref = await store.put(JSON.stringify(text));
  await keepResearch(researchDeps, { technology, ref, now: 100 * day });
};

const findAs = async (tools: readonly string[]) => {
  const input = { technologies: ['Redis', 'Kafka'], now: 100 * day, max_age_days: 30 };
  const { found } = await findResearch(researchDeps, {
    ...input,
    registry_ref: await registryWith(tools),
  });
  return found.map(({ subject }) => subject);
};

describe('research', () => {
  const deps = researchDeps;
  const find = (technology: string, now: number, max_age_days = 30) =>
    findResearch(deps, { technologies: [technology], now, max_age_days });
  beforeAll(async () => {
    const text = {
      technology: 'PostgreSQL',
      practices: ['Index what is searched.'],
      failure_patterns: [],
      sources: [],
    };
    const ref = await store.put(JSON.stringify(text));
    await keepResearch(deps, { technology: 'PostgreSQL', ref, now: 100 * day });
  });

  it('is used again while it is fresh, however its name is written', async () => {
    expect((await find('postgresql', 130 * day)).found).toMatchObject([
      { stage: 'research', subject: 'postgresql' },
    ]);
  });

  it('is not used when it is too old, never allowed, or of another technology', async () => {
    expect((await find('PostgreSQL', 131 * day)).found).toEqual([]);
    expect((await find('PostgreSQL', 100 * day, 0)).found).toEqual([]);
    expect((await find('SQLite', 100 * day)).found).toEqual([]);
  });

  it('of background knowledge is not used where the run may ask the web', async () => {
    await keep('Redis', null);
    await keep('Kafka', 'https://kafka.example/docs');
    expect(await findAs([])).toEqual(['Redis', 'Kafka']);
    expect(await findAs(['web_research'])).toEqual(['Kafka']);
  });
});
