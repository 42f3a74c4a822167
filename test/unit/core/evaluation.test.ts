import { EvaluationInput } from '../../../contracts/evaluation.ts';
import type { CellResult } from '../../../contracts/evaluation.ts';
import { PlannerRunInput } from '../../../contracts/planner-run.ts';
import { DelegationInput } from '../../../contracts/delegation-run.ts';
import { TeamInput } from '../../../contracts/team.ts';
import { addSpending, noSpending } from '../../../core/budget/spending.ts';
import { renderJUnit } from '../../../core/evaluation/junit.ts';
import {
  findEvaluationFaults,
  contentOf,
  gradersOf,
  listCells,
  partsOf,
  runOf,
  budgetOf,
  limitsOf,
  shareOf,
  toSpending,
} from '../../../core/evaluation/matrix.ts';
import {
  describeProgress,
  isPassed,
  summariseCells,
  estimateMedian,
  estimateShare,
} from '../../../core/evaluation/summary.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { describeUnanswered, isUnanswered } from '../../../core/run/decide-next-step.ts';
import { TriadInput } from '../../../contracts/triad.ts';

const runs = ['model', 'direct', 'designed', 'auto', 'triad', 'team'] as const;

const typed = {
  name: 'sample',
  goals: [
    { name: 'a', goal: 'A', criteria: ['It is short.'], constraints: ['Be brief.'] },
    { name: 'b', goal: 'B', settings: ['direct'], graders: [{ kind: 'regex', pattern: 'b' }] },
  ],
  settings: runs.map((run) => ({ name: run, run })),
  graders: [{ kind: 'regex', pattern: 'a' }],
  repeat: 2,
};
const input = EvaluationInput.parse(typed);

describe('cells', () => {
  it('EM1, EM2: each pair is there once in a repetition, and repetitions follow one another', () => {
    const cells = listCells(input);
    const names = cells.map(({ goal, setting, repetition }) => `${repetition} ${goal} ${setting}`);
    const round = [...runs.map((run) => `a ${run}`), 'b direct'];
    expect(names).toEqual([...round.map((one) => `1 ${one}`), ...round.map((one) => `2 ${one}`)]);
    expect(cells.map(({ cell }) => cell)).toEqual(names.map((_name, at) => at + 1));
  });

  it('EM3: content differs exactly by what decides the result', () => {
    const [cell] = listCells(input);
    if (cell === undefined) throw new Error('no cell');
    const terms = { agents: '1', model: 'm', grading: 'g' };
    const of = (changes: object, more: object = {}, at: object = {}): string =>
      JSON.stringify(
        contentOf(
          EvaluationInput.parse({ ...typed, ...changes }),
          { ...cell, ...at },
          { ...terms, ...more },
        ),
      );
    const same = of({});
    expect(of({ name: 'other', repeat: 5, parallel: 1, budget: { usd: 1 }, fresh: true })).toBe(
      same,
    );
    const others = [
      of({}, { agents: '2' }),
      of({}, { model: 'n' }),
      of({}, { grading: 'h' }),
      of({}, {}, { repetition: 2 }),
      of({}, {}, { setting: 'direct' }),
      of({ graders: [{ kind: 'regex', pattern: 'c' }] }),
      of({ goals: [{ ...typed.goals[0], goal: 'C' }, typed.goals[1]] }),
    ];
    expect(new Set([same, ...others]).size).toBe(others.length + 1);
  });

  it('EM4: graders without a name get one of their own', () => {
    const goal = input.goals[1];
    if (goal === undefined) throw new Error('no goal');
    expect(gradersOf(input, goal).map(({ name }) => name)).toEqual(['regex', 'regex-2']);
  });

  it('EM5: every kind of run takes the input, asks nobody and keeps a folder as it is', () => {
    const schemas = {
      plannerRun: PlannerRunInput,
      delegation: DelegationInput,
      triad: TriadInput,
      team: TeamInput,
    };
    for (const setting of runs) {
      const parts = partsOf(input, { goal: 'a', setting });
      const run = runOf({ ...parts, goal: { ...parts.goal, workspace_dir: '/w' } }, { calls: 9 });
      expect(schemas[run.workflow_type].parse(run.input)).toMatchObject({
        unattended: true,
        changes: 'keep',
        budget: { calls: 9 },
      });
      expect(JSON.stringify(run.input)).toContain('Be brief.');
    }
  });

  it('names that are there twice, unknown settings and too many cells are refused at their place', () => {
    const faulty = EvaluationInput.safeParse({
      ...typed,
      goals: [typed.goals[0], { ...typed.goals[1], name: 'a', settings: ['none'] }],
    });
    expect(faulty.error?.issues.map(({ path }) => path.join('/'))).toEqual([
      'goals/1/name',
      'goals/1/settings/0',
    ]);
    const many = {
      ...typed,
      goals: Array.from({ length: 9 }, (_one, at) => ({ name: `g${at}`, goal: 'G' })),
    };
    expect(EvaluationInput.safeParse({ ...many, repeat: 50 }).error?.issues[0]?.path).toEqual([
      'repeat',
    ]);
  });
});

describe('shares of the budget', () => {
  it('EG1, EG2, EG3: whatever cells use, the sum stays below the budget, and what is left is shared anew', () => {
    const limits = limitsOf({ budget: { usd: 0.000_1, calls: 20 } });
    for (const used of [0, 0.3, 1]) {
      let spent = noSpending;
      let started = 0;
      for (let left = 7; left > 0; left -= 1) {
        const share = shareOf({ limits, spent, reserved: noSpending, left });
        if (share === null || share === 'none') continue;
        started += 1;
        const { calls, tokens, cost_micro_usd } = toSpending(share);
        spent = addSpending(spent, {
          calls: Math.floor(calls * used),
          tokens,
          cost_micro_usd: Math.floor(cost_micro_usd * used),
        });
      }
      expect(started).toBe(7);
      expect(spent.calls).toBeLessThanOrEqual(20);
      expect(spent.cost_micro_usd).toBeLessThanOrEqual(100);
    }
    const reserved = { calls: 18, tokens: 0, cost_micro_usd: 0 };
    expect(shareOf({ limits, spent: noSpending, reserved, left: 2 })).toMatchObject({ calls: 1 });
    expect(shareOf({ limits, spent: noSpending, reserved, left: 3 })).toBeNull();
    expect(shareOf({ limits: null, spent: noSpending, reserved, left: 3 })).toBe('none');
  });

  it('EG4, EG5: models that grade keep a fifth, and the smaller limit counts', () => {
    const share = { calls: 10, tokens: 1_000, cost_micro_usd: 2_000_000 };
    expect(budgetOf(share, undefined, true)).toEqual({ calls: 8, tokens: 800, usd: 1.6 });
    expect(budgetOf(share, { usd: 1, minutes: 3 }, false)).toEqual({
      calls: 10,
      tokens: 1_000,
      usd: 1,
      minutes: 3,
    });
    expect(budgetOf('none', { calls: 2 }, true)).toEqual({ calls: 2 });
  });
});

const close = (passed: number, of: number) => {
  const { low, high } = estimateShare(passed, of);
  return [low, high].map((one) => Number(one?.toFixed(4)));
};

describe('statistics', () => {
  it('ES1: intervals of shares are those of Wilson', () => {
    // Published values of the Wilson score interval.
    expect(close(8, 10)).toEqual([0.4902, 0.9433]);
    expect(close(0, 5)).toEqual([0, 0.4345]);
    expect(close(5, 5)).toEqual([0.5655, 1]);
    for (let of = 1; of < 30; of += 1) {
      for (let passed = 0; passed <= of; passed += 1) {
        const { value, low, high } = estimateShare(passed, of);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect([value >= (low ?? 1), value <= (high ?? 0), low === high]).toEqual([
          true,
          true,
          false,
        ]);
      }
    }
  });

  it('ES2, ES3: intervals of medians lie within the observations, and are always the same', () => {
    expect(estimateMedian([])).toBeNull();
    expect(estimateMedian([4, 2])).toEqual({ value: 3, low: null, high: null });
    const seen = [9, 1, 5, 7, 3];
    const estimate = estimateMedian(seen);
    expect(estimate).toEqual(estimateMedian(seen));
    expect(estimate).toEqual({ value: 5, low: 1, high: 9 });
    const many = Array.from({ length: 40 }, (_one, at) => at);
    const { low, high } = estimateMedian(many) ?? {};
    expect(low).toBeGreaterThan(8);
    expect(high).toBeLessThan(31);
    expect(estimateMedian([6, 6, 6])).toEqual({ value: 6, low: 6, high: 6 });
  });
});

const result = (changes: Partial<CellResult>): CellResult => ({
  cell: 1,
  goal: 'a',
  setting: 's',
  repetition: 1,
  run_id: 'r-c001',
  status: 'completed',
  reason: '',
  passed: true,
  grades: [{ grader: 'g', result: 'passed', score: 0.5, reason: '' }],
  usage: { ...noUsage, calls: 3, cost_micro_usd: 10 },
  seconds: 4,
  cached: false,
  ...changes,
});

it('the first line about an evaluation at work says why a cell is parked', () => {
  const [first] = describeProgress('sums', [result({})], 2, 'The disk\nis full.').split('\n');
  expect(first).toBe(
    '**sums**: 1 cells done (0 from before), 1 passed, 2 to start, parked: The disk is full.',
  );
  expect(describeProgress('sums', [result({})], 2, null)).not.toContain('parked');
});

it('EU1, EU2, EU3: cells that did not start count as cells only, kept ones like all others', () => {
  const rows = summariseCells([
    result({ cached: true }),
    result({ cell: 2, passed: false, seconds: 8 }),
    result({ cell: 3, status: 'no_budget', passed: false, grades: [], usage: noUsage, seconds: 0 }),
    result({
      cell: 5,
      status: 'not_started',
      passed: false,
      grades: [],
      usage: noUsage,
      seconds: 0,
    }),
    result({ cell: 4, goal: 'b', usage: { ...noUsage, calls: 5, unpriced_calls: 1 } }),
  ]);
  expect(rows.map(({ goal, cells, cached, left_out }) => [goal, cells, cached, left_out])).toEqual([
    ['a', 4, 1, 2],
    ['b', 1, 0, 0],
    [null, 5, 1, 2],
  ]);
  expect(rows[0]).toMatchObject({
    passed: { value: 0.5 },
    seconds: { value: 6 },
    calls: { value: 3 },
  });
  expect(rows.map(({ cost_micro_usd }) => cost_micro_usd?.value)).toEqual([
    10,
    undefined,
    undefined,
  ]);
  expect(rows[2]?.graders).toMatchObject([{ grader: 'g', score: { value: 0.5 } }]);
  const failed = { grader: 'g', result: 'not_run', score: null, reason: '' } as const;
  expect([isPassed(result({})), isPassed(result({ grades: [failed] }))]).toEqual([true, false]);
  expect(isPassed(result({ status: 'finished_unmet' }))).toBe(false);
});

it('JU1, JU2: JUnit is well formed whatever a text holds, and tells failures, errors and skipped cells apart', () => {
  const bad = `<b> & "q" \u0000\u001b\ud800 line\nnext`;
  const failed = { grader: 'g', result: 'failed', score: null, reason: bad } as const;
  const xml = renderJUnit({
    evaluation_id: 'e',
    name: bad,
    usage: noUsage,
    cells: [
      result({}),
      result({ passed: false, grades: [failed] }),
      result({ passed: false, status: 'failed', reason: bad }),
      result({ passed: false, status: 'no_budget' }),
      result({ passed: false, status: 'not_started' }),
    ],
  });
  expect(xml).toContain('tests="5" failures="1" errors="1" skipped="2" time="20"');
  expect(xml).toContain(
    '<failure message="g failed: &lt;b&gt; &amp; &quot;q&quot;  line&#10;next"/>',
  );
  for (const one of ['\u0000', '\u001b', '\ud800']) expect(xml).not.toContain(one);
  const count = (pattern: RegExp): number => xml.match(pattern)?.length ?? 0;
  expect(count(/<[a-z-]+(?: [^<>]*[^/<>])?>/g)).toBe(count(/<\/[a-z-]+>/g));
});

it('UN1: the end of an unattended run is told from one that a person stopped', () => {
  expect(isUnanswered(describeUnanswered({ question_id: 'q1', text: 'Which one?' }))).toBe(true);
  expect([isUnanswered(undefined), isUnanswered('another goal came up')]).toEqual([false, false]);
});

describe('faults that the shape of a file allows', () => {
  it('are settings that the kind of run would ignore', () => {
    const settings = [
      { name: 'direct', run: 'direct', agent_id: 'researcher' },
      { name: 'triad', run: 'triad', members: ['writer'], triad_type: 'consensus' },
      { name: 'team', run: 'team', members: ['writer'] },
      { name: 'model', run: 'model', agent_id: 'researcher', triad_type: 'dialectic' },
    ];
    expect(pathsOf({ settings })).toEqual([
      'settings/0/agent_id',
      'settings/1/members',
      'settings/3/triad_type',
    ]);
  });

  it('are patterns that are none, of all goals and of one', () => {
    const bad = { kind: 'regex', pattern: '(' };
    const good = { kind: 'regex', pattern: 'a' };
    const goals = [{ name: 'a', goal: 'A', graders: [bad] }];
    expect(pathsOf({ graders: [good, bad], goals })).toEqual([
      'graders/1/pattern',
      'goals/0/graders/0/pattern',
    ]);
  });

  it('are goals that are too long for a run whose input is one text', () => {
    const goal = 'g'.repeat(19_000);
    const constraints = ['c'.repeat(2_000)];
    const goals = [{ name: 'a', goal, constraints }];
    const model = { name: 'alone', run: 'model' };
    expect(pathsOf({ goals })).toEqual([]);
    expect(pathsOf({ goals, settings: [model] })).toEqual(['goals/0/goal']);
    expect(pathsOf({ goals: [{ name: 'a', goal }], settings: [model] })).toEqual([]);
  });
});

function pathsOf(changes: object): string[] {
  return findEvaluationFaults(evaluationOf(changes)).map(({ path }) => path);
}

function evaluationOf(changes: object): EvaluationInput {
  return EvaluationInput.parse({
    name: 'x',
    goals: [{ name: 'a', goal: 'A' }],
    settings: [{ name: 'direct', run: 'direct' }],
    ...changes,
  });
}
