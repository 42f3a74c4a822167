import {
  drawMermaid,
  listLayers,
  chooseMode,
  countForMode,
} from '../../../../core/design/graph.ts';
import { planTask, samplePlan, withTask } from '../../../support/plans.ts';

const namesOf = (tasks: readonly { readonly task_id: string }[]): string[] =>
  tasks.map(({ task_id }) => task_id.replace('_1727539200', ''));

describe('graph of a plan', () => {
  it('GP1: each task is in the first layer after all that it depends on', () => {
    expect(listLayers(samplePlan().tasks).map(namesOf)).toEqual([
      ['try-index', 'docs'],
      ['schema'],
      ['api'],
    ]);
  });

  it('GP1: tasks of a cycle have a layer too', () => {
    const tasks = ['a', 'b', 'c'].map((name, at, all) =>
      planTask(name, { depends_on: [`${all[(at + 1) % 3]}_1727539200`] }),
    );
    expect(listLayers(tasks).map(namesOf)).toEqual([['a'], ['c'], ['b']]);
  });

  it('GP2: no text of the plan means anything to Mermaid', () => {
    const { tasks } = withTask(3, () => ({ title: 'A"]\nt9["x <b>#quot;' }));
    const drawn = drawMermaid({ ...samplePlan(), tasks });
    expect(drawn.split('\n')).toContain(
      '  t4["A#34;#93; t9#91;#34;x #60;b#62;#35;quot#59;<br/>api#95;agent"]',
    );
  });

  it('GP3: each task and each dependency is drawn once', () => {
    const { tasks } = withTask(3, () => ({
      depends_on: ['schema_1727539200', 'schema_1727539200', 'ghost_1727539200'],
    }));
    const drawn = drawMermaid({ ...samplePlan(), tasks });
    expect(drawn.match(/ --> .+$/gm)).toEqual([' --> t2', ' --> t3', ' --> t4']);
    expect(drawn.match(/^ {2}t\d[[{]/gm)).toHaveLength(4);
  });
});

describe('chooseMode', () => {
  it('a plan counts by its agents, its hand-offs, and the answers that no person gave', () => {
    const tasks = [
      { agent_id: 'writer', depends_on: [] },
      { agent_id: 'writer', depends_on: ['a'] },
      { agent_id: 'researcher', depends_on: ['a', 'b'] },
    ];
    const answers = ['anna', 'default', 'planner-assumption'].map((answered_by) => ({
      answered_by,
    }));
    expect(countForMode(tasks, answers)).toEqual({
      agents: 2,
      dependencies: 3,
      risky_assumptions: 2,
    });
  });

  it('MO1 and MO3: a small task is done directly, and all numbers are named', () => {
    expect(chooseMode({ agents: 2, dependencies: 0, risky_assumptions: 0 })).toEqual({
      mode: 'direct',
      reasons: [
        '2 agents (directly: at most 2)',
        '0 dependencies (directly: at most 0)',
        '0 risky assumptions (directly: at most 0)',
      ],
    });
  });

  it.each([
    [{ agents: 3, dependencies: 0, risky_assumptions: 0 }, '3 agents (directly: at most 2)'],
    [{ agents: 1, dependencies: 1, risky_assumptions: 0 }, '1 dependency (directly: at most 0)'],
    [
      { agents: 2, dependencies: 0, risky_assumptions: 1 },
      '1 risky assumption (directly: at most 0)',
    ],
  ])('MO2: %j calls for a design', (numbers, reason) => {
    expect(chooseMode(numbers)).toEqual({ mode: 'designed', reasons: [reason] });
  });
});
