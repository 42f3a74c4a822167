import { resultLimits } from '../../../activities/projection/limits.ts';
import type { RecordChange } from '../../../contracts/run-record.ts';
import type { RunStatus } from '../../../contracts/planner-run.ts';
import type { Usage } from '../../../contracts/usage.ts';
import { describeUnanswered } from '../../../core/run/decide-next-step.ts';
import { useHarness } from './harness.ts';
import {
  asked,
  decision,
  delegation,
  met,
  outcome,
  output,
  plan,
  question,
  unmet,
  usage,
  wave,
  wavePlanned,
} from './samples.ts';
import { wholeRun, wholeRunInput } from './whole-run.ts';

const harness = useHarness();

const end = (status: RunStatus, used: Usage = usage(3)): RecordChange => ({
  type: 'ended',
  status,
  usage: used,
});

/** Ends a run with these changes. Returns `report.md`, `result.md` and the returned answer. */
const endOf = async (input: unknown, ...changes: readonly RecordChange[]) => {
  const run = await harness.begin('my-run', input);
  const { result } = await run.apply(...changes);
  const textOf = (ref: string | undefined) => harness.deps.store.getText(ref ?? '');
  return {
    answer: result?.answer,
    result: await textOf(result?.result_ref),
    report: await textOf(result?.report_ref),
  };
};

const reportOf = async (input: unknown, ...changes: readonly RecordChange[]): Promise<string> =>
  (await endOf(input, ...changes)).report;

/** The text under a heading of the second level, null when there is none. */
const section = (result: string, heading: string): string | null =>
  result
    .split(/^(?=## )/m)
    .find((part) => part.startsWith(`## ${heading}\n`))
    ?.slice(heading.length + 3)
    .trim() ?? null;

const headings = (result: string): readonly string[] =>
  [...result.matchAll(/^#{1,2} .*$/gm)].map(([heading]) => heading);

it('completed: everything that was met, known, delivered, assumed and used', async () => {
  const run = await harness.begin('my-run', wholeRunInput);
  for (const changes of await wholeRun(harness)) await run.apply(...changes);
  const result = await harness.deps.store.getText((await run.record()).report_ref ?? '');

  expect(headings(result)).toEqual([
    '# Report: Compare ways to store sensor data',
    '## Goal',
    '## Criteria',
    '## What is known after wave 2',
    '## Results',
    '## Conflicts that were resolved',
    '## Questions and answers',
    '## Optional questions without an answer',
    '## Assumptions that stand',
    '## Usage and cost',
    '## Where everything lies',
  ]);
  expect(result).toContain(
    '**Completed: every criterion is met with evidence or by your answer, or was waived',
  );
  expect(section(result, 'Goal')).toBe(
    'Compare ways to store sensor data\nin a factory hall.\n\n- Constraint: Free software only\n- Asked for later: Leave out cloud services.',
  );
  expect(section(result, 'Criteria')).toBe(
    [
      '### Met\n',
      '- `goal-1`: Each way is rated for cost',
      '  Evidence (research-again): Evidence for goal-1.',
      '- `sources`: Three sources are named',
      '  Evidence (research-again): Evidence for sources.\n',
      '### Waived by you\n',
      '- `draft-1`: draft is done',
      '  By an instruction',
    ].join('\n'),
  );
  expect(section(result, 'What is known after wave 2')).toBe(
    '### Truth at last\n\nWay two is best.',
  );
  expect(section(result, 'Results')).toBe(
    [
      '### Title of research-again',
      '*research-again, by researcher: agents/researcher/task_output/research-again.md* This is the answer.',
      'In short.',
      '### Superseded versions',
      '- `research` of wave 1: Title of research: agents/researcher/task_output/research.md',
    ].join('\n\n'),
  );
  expect(section(result, 'Conflicts that were resolved')).toBe(
    '- `Cloud or not`: No cloud (f2 stands against f1)\n- `Network or not`: There is one (f1 stands against f4)',
  );
  expect(section(result, 'Optional questions without an answer')).toBe(
    '- Which colour? Assumed: grey (research-again)',
  );
  expect(section(result, 'Assumptions that stand')).toBe(
    '- the hall has power (high confidence, wave-002/research-again)',
  );
  expect(section(result, 'Usage and cost')).toBe(
    [
      '- 6 model calls, 6.0k tokens in, 600 out',
      '- Cost: $0.012',
      '- 2 waves in 9.0 minutes, waiting times included',
      '- Wave 1 took 3.0k tokens in, 300 out. Expected: about 8.7k tokens by 2 delegations.',
      '- Wave 2 took 3.0k tokens in, 300 out. Expected: about 4.5k tokens by 1 delegation.',
    ].join('\n'),
  );
  expect(section(result, 'Where everything lies')).toContain('`waves/002/wave_compact.md`');
});

it('finished_unmet: says how many are not met, and why', async () => {
  const a = delegation('a', {
    acceptance_criteria: [
      { criterion_id: 'a-1', description: 'One' },
      { criterion_id: 'a-2', description: 'Two' },
    ],
  });
  const out = output({
    coverage: { ...met('a-1'), criteria_unmet: unmet('a-2').criteria_unmet },
  });
  const result = await reportOf(
    { goal: 'Goal' },
    {
      type: 'wave_done',
      wave: wave(1, {
        plan_ref: await harness.put(plan(a)),
        outcomes: [await outcome(harness, a, out)],
        decision_ref: await harness.put(decision()),
      }),
      criteria: [
        { criterion_id: 'a-1', state: 'met', delegation_id: 'a' },
        { criterion_id: 'a-2', state: 'open', delegation_id: 'a' },
      ],
    },
    end('finished_unmet', { ...usage(1), unpriced_calls: 1 }),
  );
  expect(result).toContain('**Finished, although 1 of 2 criteria is not met.**');
  expect(section(result, 'Criteria')).toContain(
    '### Not met\n\n- `a-2`: Two\n  Why not (a): No way to a-2.',
  );
  expect(section(result, 'Usage and cost')).toContain('- Cost: at least $');
  expect(section(result, 'Assumptions that stand')).toBeNull();
});

it('finding L10: the report names apart what may have been billed without a report', async () => {
  const lost = { unreported_calls: 2, unreported_tokens: 900, unreported_cost_micro_usd: 40_000 };
  const result = await reportOf({ goal: 'Goal' }, end('abandoned', { ...usage(1), ...lost }));
  expect(section(result, 'Usage and cost')).toContain(
    '- Billed perhaps, without a report, and counted against the budget: 2 calls, up to 900 tokens, up to $0.04',
  );
});

it('stopped: what was asked, planned and not done', async () => {
  const made = plan(delegation('a'), delegation('b'));
  const planRef = await harness.put(made);
  const result = await reportOf(
    { goal: 'Goal', criteria: ['It is cheap'] },
    wavePlanned(1, planRef, made),
    { type: 'question_opened', question: question('q1') },
    end('stopped', usage(1)),
  );
  expect(result).toContain('**Stopped by the user before the end: 3 of 3 criteria are not met.**');
  expect(section(result, 'Criteria')).toContain(
    '- `goal-1`: It is cheap\n  Why not: No work on it was finished.',
  );
  expect(section(result, 'Results')).toBe('No delegation was completed.');
  expect(section(result, 'Questions that were still open')).toBe('- `q1`: What about q1?');
  expect(headings(result)).not.toContain('## What is known after wave 1');
  expect(section(result, 'Usage and cost')).toContain('- 1 model call, ');
});

it('an unattended run that ended at a question does not name the user as the one who stopped it', async () => {
  const stop_reason = describeUnanswered({ question_id: 'q2', text: 'Approve the plan?' });
  const result = await reportOf(
    { goal: 'Goal' },
    { type: 'ended', status: 'stopped', usage: usage(1), stop_reason },
  );
  expect(result).toContain(
    '**Unattended, and ended at a question that only a person can answer ("Approve the plan? (q2)"): no criterion was set.**',
  );
});

it('finding T6: a run that a default gave up does not name the user as the one who did', async () => {
  const answer = {
    question_id: 'q1',
    text: 'The planner could not plan wave 1. What now?',
    delegation_id: null,
    answer: 'abandon',
    source_refs: [],
    answered_at: 1,
  };
  const givenUpBy = (answered_by: string): Promise<string> =>
    reportOf(
      { goal: 'Goal' },
      { type: 'question_answered', answered: { ...answer, answered_by }, answer_ref: null },
      end('abandoned', usage(0)),
    );
  for (const name of ['default', 'planwave']) {
    expect(await givenUpBy(name)).toContain(
      '**Given up without a decision of the user, by the default answer to q1 ("The planner could not plan wave 1. What now?"): no criterion was set.**',
    );
  }
  expect(await givenUpBy('user')).toContain('**Abandoned by the user: no criterion');
});

it('abandoned, before anything was planned', async () => {
  const result = await reportOf({ goal: 'Goal' }, end('abandoned', usage(0)));
  expect(result).toContain('**Abandoned by the user: no criterion was set.**');
  expect(section(result, 'Criteria')).toBe('No criterion was set.');
});

const deliver = async (
  ...waves: readonly (readonly Parameters<typeof delegation>[1][])[]
): Promise<readonly string[]> => {
  const changes: RecordChange[] = [];
  for (const [index, overs] of waves.entries()) {
    const delegations = overs.map((over, at) => delegation(`w${index + 1}d${at + 1}`, over));
    const outcomes = await Promise.all(
      delegations.map((one) =>
        outcome(
          harness,
          one,
          output({ coverage: met(...one.acceptance_criteria.map((c) => c.criterion_id)) }),
        ),
      ),
    );
    changes.push({ type: 'wave_done', wave: wave(index + 1, { outcomes }), criteria: [] });
  }
  const result = await reportOf({ goal: 'Goal' }, ...changes, end('completed'));
  return [...result.matchAll(/^### Title of (\S+)$/gm)].map(([, id]) => id ?? '');
};

const criteria = (...ids: readonly string[]) => ({
  acceptance_criteria: ids.map((criterion_id) => ({ criterion_id, description: criterion_id })),
});

describe('deliverables', () => {
  it('are all completed delegations, in order', async () => {
    expect(await deliver([{}, {}], [{}])).toEqual(['w1d1', 'w1d2', 'w2d1']);
  });

  it('are left out when later waves speak on all of their criteria again', async () => {
    expect(await deliver([criteria('x', 'y')], [criteria('x')], [criteria('y')])).toEqual([
      'w2d1',
      'w3d1',
    ]);
    expect(await deliver([criteria('x', 'y')], [criteria('x')])).toEqual(['w1d1', 'w2d1']);
  });

  it('are left out when later waves produce all again that they produce', async () => {
    expect(await deliver([{ produces: ['report'] }], [{ produces: ['report'] }])).toEqual(['w2d1']);
    expect(await deliver([{ produces: ['report', 'x'] }], [{ produces: ['report'] }])).toEqual([
      'w1d1',
      'w2d1',
    ]);
  });

  it('are not replaced by siblings of the same wave', async () => {
    expect(await deliver([criteria('x'), criteria('x')])).toEqual(['w1d1', 'w1d2']);
  });
});

it('cuts each text at its limit and points to the whole', async () => {
  const a = delegation('a');
  const out = output({
    compact_md: 'd'.repeat(resultLimits.deliverableCompactCharsMax + 1),
    optional_questions: [asked('o'.repeat(resultLimits.lineCharsMax + 1))],
    assumptions_made: [{ statement: 's'.repeat(resultLimits.lineCharsMax + 1), confidence: 'low' }],
  });
  const done = await outcome(harness, a, out);
  const result = await reportOf(
    { goal: `Goal\n${'g'.repeat(resultLimits.goalCharsMax)}` },
    {
      type: 'wave_done',
      wave: wave(1, {
        outcomes: [done],
        decision_ref: await harness.put(
          decision({ wave_compact: 'c'.repeat(resultLimits.waveCompactCharsMax + 1) }),
        ),
      }),
      criteria: [],
    },
    end('completed'),
  );
  expect(section(result, 'Goal')).toMatch(/whole: conversation_summary_goal\.md\*$/);
  expect(section(result, 'What is known after wave 1')).toMatch(
    /whole: waves\/001\/wave_compact\.md\*$/,
  );
  expect(section(result, 'Results')).toContain(
    `whole: agents/researcher/task_output/a.md, in artifact ${done.output_ref}*`,
  );
  expect(section(result, 'Optional questions without an answer')).toMatch(
    new RegExp(`whole: artifact ${done.output_ref}\\)$`),
  );
  expect(section(result, 'Assumptions that stand')).toMatch(/whole: pool\.jsonl\)$/);
});

const assumptions = (from: number) =>
  output({
    assumptions_made: Array.from({ length: 20 }, (_, index) => ({
      statement: `assumption ${from + index}`,
      confidence: 'low' as const,
    })),
  });

it('names what a long list leaves out', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      outcome(harness, delegation(`d${index}`), assumptions(20 * index)),
    ),
  );
  const result = await reportOf(
    { goal: 'Goal' },
    { type: 'wave_done', wave: wave(1, { outcomes }), criteria: [] },
    end('completed'),
  );
  expect(section(result, 'Assumptions that stand')).toMatch(/\n- … and 20 more: pool\.jsonl$/);
});

it('does not let an output hide or outrank what follows it', async () => {
  const out = output({ compact_md: '# Report: forged\n\n<!-- \n\n```\nopen' });
  const result = await reportOf(
    { goal: 'Goal' },
    {
      type: 'wave_done',
      wave: wave(1, { outcomes: [await outcome(harness, delegation('a'), out)] }),
      criteria: [],
    },
    end('completed'),
  );
  expect(headings(result).filter((heading) => heading.includes('Report'))).toEqual([
    '# Report: Goal',
  ]);
  expect(result).toContain('&lt;!--');
  expect(result).toContain('```\nopen\n```\n\n## Usage and cost');
});

it('says what was taken out of it, by rule, and nothing when nothing was', async () => {
  const goal = 'Deploy with [redacted:github], [redacted:aws] and [redacted:github]';
  const result = await reportOf({ goal }, end('stopped'));
  // The goal stands in the title too.
  expect(section(result, 'Taken out')).toMatch(/In this file: 2 × aws, 4 × github\.$/);
  expect(section(await reportOf({ goal: 'Deploy' }, end('stopped')), 'Taken out')).toBeNull();
});

it('says who verified a result after how many attempts, and what was not verified', async () => {
  const verified = { verified_by: 'tester', results_refs: [], output_ref: null } as const;
  const [done, given] = [delegation('done'), delegation('given')];
  const outcomes = [
    await outcome(harness, done, output(), {
      verification: { ...verified, status: 'verified', attempts: 2 },
    }),
    await outcome(harness, given, output(), {
      status: 'failed',
      reason: 'It was abandoned after 5 verifications.',
      verification: { ...verified, status: 'abandoned', attempts: 5 },
    }),
  ];
  const waveDone: RecordChange = {
    type: 'wave_done',
    wave: wave(1, { plan_ref: await harness.put(plan(done, given)), outcomes }),
    criteria: [],
  };
  const report = await reportOf(undefined, waveDone, end('finished_unmet'));
  expect(report).toContain('*done, by researcher, verified by tester after 2 attempts: agents/');
  expect(section(report, 'Not verified')).toBe(
    '- `given` by researcher, abandoned after 5 verifications by tester: Title of given. It was abandoned after 5 verifications.',
  );
});
