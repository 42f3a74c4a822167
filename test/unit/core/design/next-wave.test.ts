import { countWaves, findTask, listDone, nextWave } from '../../../../core/design/next-wave.ts';
import { defaultLimits } from '../../../../core/limits.ts';
import { checkPlan } from '../../../../core/plan/check-plan.ts';
import { planAgents, planTask, samplePlan, withTask } from '../../../support/plans.ts';
import { someRef } from '../../../support/factories.ts';
import { outlinePlan } from '../../../../core/plan/check-repetition.ts';
import { StoredPlan } from '../../../../contracts/wave-plan.ts';

const id = (name: string): string => `${name}_1727539200`;
const nothing = { verified: [], dispatched: [] };

function idsOf(progress: Parameters<typeof nextWave>[1], max = 50): string[] {
  return nextWave(samplePlan(), progress, max).map(({ delegation_id }) => delegation_id);
}

describe('nextWave', () => {
  it('WN2: a proof of concept works without those that rely on it', () => {
    expect(idsOf(nothing)).toEqual([id('try-index'), id('docs')]);
  });

  it('WN10: a small wave has the proofs of concept and what they need, wherever they stand in the plan', () => {
    const { tasks } = samplePlan();
    const others = Array.from({ length: 12 }, (_, nth) => planTask(`other-${nth}`));
    const [proof, ...rest] = tasks.map((task, at) =>
      at === 0 ? { ...task, depends_on: [id('prepare')] } : task,
    );
    const prepare = planTask('prepare');
    const plan = samplePlan({ tasks: [...others, prepare, ...rest, ...(proof ? [proof] : [])] });
    const wave = nextWave(plan, nothing, 4).map(({ delegation_id }) => delegation_id);
    expect(wave).toEqual([id('prepare'), id('try-index'), id('other-0'), id('other-1')]);
  });

  it('WN1: what depends on a task of the same wave is in it too', () => {
    const verified = [id('try-index'), id('docs')];
    expect(idsOf({ verified, dispatched: verified })).toEqual([id('schema'), id('api')]);
    expect(
      idsOf({ verified: ['schema', 'api', 'docs', 'try-index'].map(id), dispatched: [] }),
    ).toEqual([]);
  });

  it('WN3: a wave keeps its limit, and no task comes without its dependencies', () => {
    const verified = [id('try-index')];
    expect(idsOf({ verified, dispatched: verified }, 2)).toEqual([id('schema'), id('docs')]);
    expect(idsOf({ verified, dispatched: verified }, 1)).toEqual([id('schema')]);
  });

  it('WN4: a task that is done again has another delegation_id, from which it is found', () => {
    const dispatched = [id('try-index'), id('docs')];
    const again = idsOf({ verified: [id('docs')], dispatched });
    expect(again).toEqual(['try-index-2_1727539200']);
    const third = idsOf({ verified: [id('docs')], dispatched: [...dispatched, ...again] });
    expect(third).toEqual(['try-index-3_1727539200']);
    const { tasks } = samplePlan();
    expect(findTask(tasks, 'try-index-3_1727539200')?.task_id).toBe(id('try-index'));
    expect(findTask(tasks, 'ghost_1727539200')).toBeUndefined();
    const long = planTask('a-very-long-name-of-28-chars');
    const [first] = nextWave(
      { ...samplePlan(), tasks: [long] },
      { verified: [], dispatched: [long.task_id] },
      1,
    );
    expect(first?.delegation_id).toBe('a-very-long-name-of-28-cha-2_1727539200');
    expect(findTask([long], first?.delegation_id ?? '')).toBe(long);
  });

  it('WN4: a task that is done again takes neither the name of another task nor that of its attempts', () => {
    const tasks = [planTask('draft'), planTask('draft-2', { depends_on: [id('draft')] })];
    const wave = nextWave(
      samplePlan({ tasks }),
      { verified: [], dispatched: [id('draft')] },
      50,
    ).map(({ delegation_id, title, depends_on }) => [delegation_id, title, depends_on]);
    expect(wave).toEqual([
      [id('draft-3'), 'Do draft', []],
      [id('draft-2'), 'Do draft-2', [id('draft-3')]],
    ]);
    const long = ['chars', 'chart'].map((end) => planTask(`a-very-long-name-of-28-${end}`));
    const dispatched = long.map(({ task_id }) => task_id);
    const again = nextWave(samplePlan({ tasks: long }), { verified: [], dispatched }, 50);
    expect(again.map(({ delegation_id }) => delegation_id)).toEqual([
      id('a-very-long-name-of-28-cha-2'),
      id('a-very-long-name-of-28-cha-3'),
    ]);
  });

  it('WN5: a delegation requires the results that its task builds on', () => {
    const verified = ['try-index-2_1727539200', id('docs')];
    const [schema, api] = nextWave(samplePlan(), { verified, dispatched: verified }, 50);
    expect(schema).toMatchObject({
      required_inputs: ['try-index-2_1727539200'],
      provided_inputs: ['try-index-2_1727539200'],
      depends_on: [],
    });
    expect(api).toMatchObject({
      agent_id: 'engineer',
      required_inputs: [id('schema')],
      depends_on: [id('schema')],
      needs: 'met',
    });
  });

  it('WN5: where other work met the evidence of a task, its results are required', () => {
    const verified = [id('try-index'), id('docs')];
    const instead = new Map([[id('try-index'), ['index-again']]]);
    const [schema] = nextWave(samplePlan(), { verified, instead, dispatched: verified }, 50);
    expect(schema).toMatchObject({
      required_inputs: ['index-again'],
      provided_inputs: ['index-again'],
    });
  });

  it('WN6: a plan needs a wave for each proof of concept in a row, and more for small waves', () => {
    const plan = samplePlan();
    const counted = [50, 2, 1].map((max) => countWaves(plan, max));
    expect(counted).toEqual([2, 2, 4]);
    const [first, ...others] = plan.tasks;
    const circular = {
      tasks: [{ ...first!, depends_on: others.map(({ task_id }) => task_id) }, ...others],
    };
    expect(countWaves(circular, 50)).toBe(0);
  });

  it('WN8: what was done stays done until the plan changes it; what never began or is wanted again was not', () => {
    const ends = [
      { delegation_id: id('schema'), wave: 1, status: 'completed' },
      { delegation_id: id('api'), wave: 1, status: 'skipped' },
      { delegation_id: id('docs'), wave: 1, status: 'failed' },
      { delegation_id: 'try-index-2_1727539200', wave: 2, status: 'failed' },
      { delegation_id: 'of-the-planner', wave: 2, status: 'completed' },
    ] as const;
    const { tasks } = samplePlan();
    const done = (again: string[], changed: string[] = []): string[] => [
      ...listDone(tasks, ends, again, [{ wave: 1, changed_tasks: changed }]),
    ];
    expect(done([])).toEqual(['schema', 'docs', 'try-index'].map(id));
    expect(done(['try-index-2_1727539200'])).toEqual(['schema', 'docs'].map(id));
    expect(done([], [id('docs'), id('try-index')])).toEqual(['schema', 'try-index'].map(id));
    const stopped = [{ delegation_id: id('docs'), wave: 1, status: 'stopped' }] as const;
    expect([...listDone(tasks, stopped, [], [])]).toEqual([]);
  });

  it('WN9: what rests on what no longer holds is done again before what depends on it', () => {
    const verified = ['try-index', 'docs', 'schema', 'api'].map(id);
    const redone = (stale: string[], max = 50) =>
      nextWave(samplePlan(), { verified, dispatched: verified, stale }, max).map(
        ({ delegation_id, redoes, depends_on, provided_inputs }) => ({
          delegation_id,
          redoes,
          depends_on,
          provided_inputs,
        }),
      );
    expect(redone([])).toEqual([]);
    expect(redone(['of-the-planner'])).toEqual([]);
    const schema = {
      delegation_id: 'schema-2_1727539200',
      redoes: id('schema'),
      depends_on: [],
      provided_inputs: [id('try-index')],
    };
    expect(redone([id('schema')])).toEqual([schema]);
    expect(redone(['schema', 'api'].map(id))).toEqual([
      schema,
      {
        delegation_id: 'api-2_1727539200',
        redoes: id('api'),
        depends_on: ['schema-2_1727539200'],
        provided_inputs: [],
      },
    ]);
    // What a proof of concept tests waits for its new result.
    expect(redone(['try-index', 'schema'].map(id)).map((one) => one.redoes)).toEqual([
      id('try-index'),
    ]);
  });

  it('WN7: a delegation is verified by the verifier of its task, with the checks of its evidence', () => {
    const check = { kind: 'file', path: 'schema.md', sha256: null } as const;
    const plan = withTask(3, () => ({
      validation: {
        verified_by: 'reviewer_agent',
        evidence: [
          { evidence_id: 'docs-there', description: 'The file is there.', check },
          { evidence_id: 'docs-clear', description: 'The text is clear.' },
        ],
      },
    }));
    const [proof, docs] = nextWave(plan, nothing, 50);
    expect(proof?.verification).toEqual({ verified_by: 'reviewer', checks: [] });
    expect(docs?.verification).toEqual({
      verified_by: 'reviewer',
      checks: [{ criterion_id: 'docs-there', check }],
    });
  });

  it('its delegations are a valid wave', () => {
    const delegations = nextWave(
      samplePlan(),
      { verified: [id('try-index')], dispatched: [id('try-index')] },
      50,
    );
    const plan = StoredPlan.parse({
      summary: 'The next tasks.',
      delegations,
      needs_user_input: false,
      user_questions: [],
    });
    const context = {
      agents: planAgents,
      criteria: [],
      known_inputs: [id('try-index')],
      delegation_ids: [id('try-index')],
      fingerprints: {},
      stale: [],
      answered_questions: [],
      triads: true,
      teams: [],
      models: [],
      limits: defaultLimits,
    };
    expect(checkPlan(outlinePlan(plan, someRef), context)).toEqual([]);
  });
});
