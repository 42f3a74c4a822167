import { runCli } from '../../../client/cli/commands/program.ts';
import { usageOf } from '../../support/factories.ts';
import { createFakeDeps, notFound } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';
import { describePlans } from '../../../core/run/fork-record.ts';
import type { ComparedRun } from '../../../core/run/fork-record.ts';

const design = {
  status: 'approved',
  materials: [],
  plan_refs: ['v1'],
  plan_agents: [],
  findings: [],
  approved_by: null,
  usage: usageOf(12),
} as const;

function criterion(criterion_id: string, state: 'open' | 'met', delegation_id: string | null) {
  return { criterion_id, description: `Says ${criterion_id}`, state, delegation_id };
}

function runOf(run_id: string, others: Partial<ComparedRun>): ComparedRun {
  return {
    run_id,
    status: 'completed',
    started_at: 1_000,
    updated_at: 1_090,
    usage: usageOf(30),
    criteria: [criterion('goal-1', 'met', 'facts'), criterion('c2', 'met', null)],
    waves: [{ outcomes: [] }],
    plan: ['wave 1', '  facts by researcher: Facts'],
    answer: 'One\nTwo\n',
    ...others,
  };
}

const runs: Record<string, ComparedRun> = {
  a: runOf('a', {
    design,
    waves: [
      {
        outcomes: [
          {
            delegation_id: 'facts',
            verification: {
              verified_by: 'tester',
              status: 'verified',
              attempts: 1,
              results_refs: [],
              output_ref: null,
            },
          },
        ],
      },
    ],
  }),
  b: runOf('b', {
    status: null,
    usage: usageOf(7),
    criteria: [criterion('goal-1', 'open', null)],
    plan: ['wave 1', '  facts by writer: Facts'],
    answer: 'One\n\u001B[2JThree\n',
  }),
};

function readComparedRun(runId: string): Promise<ComparedRun> {
  return runs[runId] === undefined ? Promise.reject(notFound()) : Promise.resolve(runs[runId]);
}

async function compare(...argv: readonly string[]) {
  const io = createFakeIo();
  const code = await runCli(['compare', ...argv], createFakeDeps(io, {}, { readComparedRun }));
  return { code, out: io.out(), err: io.err() };
}

it('TB1: two runs stand beside each other with what they used, reached, planned and answered', async () => {
  const { code, out } = await compare('a', 'b');
  expect(code).toBe(0);
  const rows = out.split('\n').map((line) => line.split(/ {2,}/));
  expect(rows).toEqual(
    expect.arrayContaining([
      ['', 'a', 'b'],
      ['mode', 'designed', 'direct'],
      ['status', 'completed', 'at work'],
      ['calls', '30', '7'],
      ['criteria met', '2 of 2, 1 verified', '0 of 1, 0 verified'],
      ['goal-1: Says goal-1', 'met', 'open'],
      ['c2: Says c2', 'met', '–'],
    ]),
  );
  expect(out).toMatch(/^of it design +12 calls.* –$/m);
  expect(out).toMatch(
    /plan:\n--- a\n\+\+\+ b\n@@ .* @@\n wave 1\n- {2}facts by researcher: Facts\n\+/,
  );
  // What a model wrote can't clear the screen.
  expect(out).toMatch(/answer:\n--- a\n\+\+\+ b\n@@ .* @@\n One\n-Two\n\+Three\n$/);
});

it('TB1: criteria that share an id and say something else stand in rows of their own', async () => {
  const own = { ...criterion('c2', 'open', null), description: 'Says something else' };
  runs['c'] = runOf('c', { criteria: [criterion('goal-1', 'met', null), own] });
  const { out } = await compare('a', 'c');
  const rows = out.split('\n').map((line) => line.split(/ {2,}/));
  expect(rows).toEqual(
    expect.arrayContaining([
      ['goal-1: Says goal-1', 'met', 'met'],
      ['c2: Says c2', 'met', '–'],
      ['c2: Says something else', '–', 'open'],
    ]),
  );
});

it('prints one document with --json, and says what is equal', async () => {
  const { out } = await compare('a', 'a', '--json');
  expect(JSON.parse(out)).toMatchObject({
    a: { run_id: 'a', mode: 'designed', seconds: 90, usage: usageOf(30), answer: 'One\nTwo\n' },
    criteria: [{ criterion_id: 'goal-1', states: ['met', 'met'] }, { criterion_id: 'c2' }],
    plan_diff: '',
    answer_diff: '',
  });
  expect((await compare('a', 'a')).out).toMatch(/\nplan: equal\n\nanswer: equal\n$/);
});

it('ends with 4 for a run that is not stored here', async () => {
  expect(await compare('a', 'x')).toMatchObject({ code: 4, out: '' });
});

it('describes who does what in each wave', () => {
  const text = {
    delegation_id: 'text',
    agent_id: 'writer',
    title: 'The text',
    depends_on: ['facts'],
    executor: { kind: 'agent' as const },
  };
  const letter = {
    ...text,
    delegation_id: 'letter',
    depends_on: [],
    executor: { kind: 'team' as const, members: [] },
  };
  expect(describePlans(new Map([[2, { delegations: [text, letter] }]]))).toEqual([
    'wave 2',
    '  text by writer after facts: The text',
    '  letter by team of writer: The text',
  ]);
});
