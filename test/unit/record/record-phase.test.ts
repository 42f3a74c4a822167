import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { phaseLimits } from '../../../activities/projection/limits.ts';
import { createRecordActivities } from '../../../activities/run-record/create-record-activities.ts';
import { recordPhase } from '../../../activities/run-record/record-phase.ts';
import { AgentOutput } from '../../../contracts/agent-output.ts';
import { answers, claims, specAfter } from '../core/triad-builders.ts';
import { useHarness } from './harness.ts';
import { readTree } from '../../support/read-tree.ts';
import { delegation, output, plan } from './samples.ts';
import { offer, offerOutput, reportOf, summary } from './triad-samples.ts';
import type { RecordPhaseResult, PhaseReport } from '../../../contracts/triad-run.ts';

const harness = useHarness();

const inputOf = async (report: PhaseReport) => ({
  run_id: 'my-run',
  delegation_id: 'offer',
  plan_ref: await harness.put(plan(offer)),
  report,
});

const record = async (report: PhaseReport): Promise<RecordPhaseResult> =>
  harness.recordPhase(await inputOf(report));

const fileOf = (phase: string): Promise<string> =>
  readFile(join(harness.home, 'my-run', 'triads', 'offer', `${phase}.md`), 'utf8');

const outputBehind = async ({ output_ref }: RecordPhaseResult): Promise<AgentOutput> =>
  AgentOutput.parse(JSON.parse(await harness.deps.store.getText(output_ref ?? '')));

const unfinishedOf = async (report: PhaseReport): Promise<AgentOutput> => {
  const { unfinished_ref } = await record(report);
  return AgentOutput.parse(JSON.parse(await harness.deps.store.getText(unfinished_ref ?? '')));
};

it.each([
  ['stopped', null, 'its phase execute was stopped'],
  [
    'failed',
    { agent: 'ben', phase: 'execute', message: 'No valid\noutput.' },
    'its phase execute failed: No valid output.',
  ],
] as const)(
  'a phase that %s hands over the sections that have a text, as an output that is not whole',
  async (status, failure, why) => {
    const out = await unfinishedOf(await reportOf(harness, 'execute', {}, { status, failure }));
    expect(out).toMatchObject({
      status: 'failed',
      facts: [],
      coverage: { criteria_met: [], criteria_unmet: [] },
    });
    expect(out.compact_md).toBe(
      `**Not whole.** The triad gave no output: ${why}\n\nWhat came:\n\n- risks (agreed): # Risks Fire and water.`,
    );
    expect(out.detailed_md).toBe(
      `**Not whole.** The triad gave no output: ${why}\n\n## risks (agreed)\n\n# Risks\n\nFire and water.`,
    );
  },
);

it('a phase that ended well hands over its summary and sections, for a triad that ends before the next', async () => {
  const summary_ref = await harness.put(summary);
  const out = await unfinishedOf(await reportOf(harness, 'negotiate', {}, { summary_ref }));
  expect(out.compact_md).toContain('it got no further than negotiate.');
  expect(out.compact_md).toContain('- the summary of negotiate\n- risks (agreed): ');
  expect(out.detailed_md).toContain('- `risks`: Carl writes it, for he knows it.');
  expect(out.detailed_md).toContain('## risks (agreed)\n\n# Risks\n\nFire and water.');
});

it('a long section is cut in the short text and whole in the other', async () => {
  const sectionText = `${'word '.repeat(1_000)}end`;
  const out = await unfinishedOf(
    await reportOf(harness, 'execute', { sectionText }, { status: 'failed' }),
  );
  expect(out.compact_md.length).toBeLessThan(500);
  expect(out.detailed_md).toContain(sectionText);
});

it('an output, and a phase without a text, hand over nothing unfinished', async () => {
  const whole = await reportOf(harness, 'execute');
  expect(await record(whole)).not.toHaveProperty('unfinished_ref');
  const spec = { negotiators: [], sections: [], claims: [], rounds: 0 };
  expect(await record({ ...whole, status: 'failed', spec, turns: [] })).not.toHaveProperty(
    'unfinished_ref',
  );
});

it('a phase that negotiated: who, how it ended, what was summarised, claimed, answered and said', async () => {
  const summary_ref = await harness.put(summary);
  const report = await reportOf(harness, 'negotiate', {}, { summary_ref });
  const { report_ref, output_ref } = await record(report);
  expect(JSON.parse(await harness.deps.store.getText(report_ref))).toEqual(report);
  expect(output_ref).toBeNull();
  expect(await fileOf('negotiate')).toBe(`# Negotiate: Title of offer

- **State:** done, after 1 of at most 3 rounds
- **Attempt:** 1
- **Delegation:** offer, by a dialectic triad
- **Why a triad:** Prices are disputed.
- **Members:**
  - anna: proposer, agent researcher
  - ben: critic, agent researcher, model other-model, looks at it as: security
  - carl: synthesizer, agent writer
- **Used:** $0.018, 9.0k tokens in, 900 out
- **Report:** artifact ${report_ref}

## Summary

### Decisions

- \`risks\`: Carl writes it, for he knows it.

### Open questions

- \`prices\`: Which prices?

### Artifacts

- None.

## Sections

### \`prices\`

*open, nobody owns it, version 1*

What each way costs.

### \`risks\`

*done, owned by carl, version 2*

#### Risks

Fire and water.

## Claims

### prices.anna of anna on \`prices\`: dissent

*about the section's ownership*

#### Prices

Only the list prices.

- Round 1, **ben: HOLD** (of revision 1)
  Nobody pays list prices.
- Round 1, **carl: CONCEDE** (of revision 1)
  It is complete.

### risks.carl of carl on \`risks\`: settled

*about the section's ownership*

The usual risks.

- Round 1, **anna: CONCEDE** (of revision 1)
  It is complete.
- Round 1, **ben: CONCEDE** (of revision 1)
  It is complete.

## What was said

### Turn 1: anna, round 1

I looked at both.

### Turn 2: ben, round 1

Nothing besides what stands in the records.
`);
});

it('a hierarchical triad: what was registered for a worker, revised, written as code, and disputed at the end', async () => {
  const { store } = harness.deps;
  const refs = await Promise.all(
    [
      'Two tables.',
      'Three tables.',
      'Too few.',
      '# 1\nselect 1;\n',
      'No.',
      'The offer has four tables.',
    ].map((one) => store.put(one)),
  );
  const [proposal = '', revised = '', few = '', code = '', no = '', against = ''] = refs;
  const spec = specAfter(
    ['schema'],
    [
      claims('wanda', 'schema', proposal, 'otto'),
      answers('will', 'schema.wanda', 'REVISE', few, { revised_ref: revised }),
      answers('wanda', 'schema.wanda', 'CONCEDE', no, { revision: 2 }),
      {
        type: 'edit',
        member: 'wanda',
        section_id: 'schema',
        base_version: 1,
        status: 'done',
        text_ref: code,
        language: 'sql',
      },
      { type: 'dispute', by: 'otto', section_id: 'schema', version: 2, reason_ref: against },
      answers('will', 'schema.output', 'HOLD', no),
      { type: 'close' },
    ],
    ['wanda', 'will'],
  );
  const output_ref = await harness.put(offerOutput);
  const base = await reportOf(harness, 'execute', {}, { output_ref });
  await record({ ...base, type: 'hierarchical', spec });
  const file = await fileOf('execute');
  expect(file).toContain(
    '*done, owned by wanda, version 2, written in sql*\n\n```sql\n# 1\nselect 1;\n```',
  );
  expect(file).toContain(
    "### schema.wanda of wanda on `schema`: settled\n\n*about the section's ownership, registered by otto, revision 2 by will*\n\nThree tables.",
  );
  expect(file).toContain('- Round 1, **will: REVISE** (of revision 1)\n  Too few.');
  expect(file).toContain(
    '### `schema`, said to contradict another section: schema.output of wanda, revision 1\n\n```sql\n# 1\nselect 1;\n```\n\n**It was disputed because:**\nThe offer has four tables.\n\n- **will: HOLD.**\n  No.',
  );
});

it('execute: the output ends with the minority report, and its short text says so', async () => {
  const output_ref = await harness.put(offerOutput);
  const result = await record(await reportOf(harness, 'execute', {}, { output_ref }));
  const told = await outputBehind(result);
  expect(told).toEqual({
    ...offerOutput,
    compact_md:
      'The offer, in short.\n\nDisputed to the end: `prices`. The minority report at the end of the whole output has what each member holds.\n',
    detailed_md: `# The offer

At length.

## Minority report

What the members of the triad could not settle, as the engine found it in the records of their negotiation.

### \`prices\`, claimed: prices.anna of anna, revision 1

#### Prices

Only the list prices.

- **ben: HOLD.**
  Nobody pays list prices.
`,
  });
  const file = await fileOf('execute');
  expect(file).toContain('## Output\n\n*completed*\n\nThe offer, in short.\n\n## Minority report');
  expect(file).toContain('- **ben: HOLD.**\n  Nobody pays list prices.');
});

it('execute: an output that everybody stands behind stays as it is', async () => {
  const output_ref = await harness.put(offerOutput);
  const report = await reportOf(harness, 'execute', { agrees: true }, { output_ref });
  expect((await record(report)).output_ref).toBe(output_ref);
  expect(await fileOf('execute')).not.toContain('Minority report');
});

it('a minority report is not swallowed by a code block that the agent left open', async () => {
  const output_ref = await harness.put(output({ detailed_md: 'So:\n\n````ts\n```\nconst a = 1;' }));
  const told = await outputBehind(
    await record(await reportOf(harness, 'execute', {}, { output_ref })),
  );
  expect(told.detailed_md).toContain('const a = 1;\n````\n\n## Minority report');
});

it('a phase that failed says who failed, in which phase and why, and keeps what there is', async () => {
  const failure = {
    agent: 'ben',
    phase: 'execute',
    message: 'No valid call\nin 3 attempts.',
  } as const;
  const failed = await reportOf(harness, 'execute', {}, { status: 'failed', failure });
  expect((await record(failed)).output_ref).toBeNull();
  const file = await fileOf('execute');
  expect(file).toContain('- **State:** failed, after 1 of at most 3 rounds\n');
  expect(file).toContain('## Failure\n\nben failed in execute: No valid call in 3 attempts.\n');
  expect(file).toContain('I looked at both.');
  expect(file).not.toContain('## Output');
  // A phase that ended before anybody did anything.
  const empty = { negotiators: [], sections: [], claims: [], rounds: 0 };
  await record({ ...failed, spec: empty, turns: [] });
  expect(await fileOf('execute')).toContain('No turn came to its end.');
});

it('a later attempt has the file and says so; recording twice changes nothing', async () => {
  const first = await reportOf(harness, 'negotiate');
  const second = { ...first, attempt: 2 };
  await record(first);
  const kept = await record(second);
  const tree = await readTree(harness.home);
  expect(await fileOf('negotiate')).toContain(
    '- **Attempt:** 2. This file replaces that of attempt 1\n',
  );
  expect(await record(second)).toEqual(kept);
  expect(await readTree(harness.home)).toEqual(tree);
});

it('an attempt of the activity that comes late leaves the file of a newer one alone', async () => {
  const first = await reportOf(harness, 'negotiate');
  await record({ ...first, attempt: 2 });
  const newer = await fileOf('negotiate');
  // Suspended for longer than its heartbeat time-out: somebody else may have the work.
  const late = recordPhase(harness.deps, await inputOf(first), () =>
    Promise.reject(new Error('superseded')),
  );
  await expect(late).rejects.toThrow('superseded');
  expect(await fileOf('negotiate')).toBe(newer);
});

it('the activity asks the server whether an old task is still its own, before it writes', async () => {
  const env = new MockActivityEnvironment({
    heartbeatTimeoutMs: 4_000,
    currentAttemptScheduledTimestampMs: 1,
  });
  const asked: unknown[] = [];
  const gone = Object.assign(new Error('gone'), { name: 'ActivityNotFoundError' });
  Object.defineProperty(env.context, 'client', {
    value: {
      activity: {
        heartbeat: (token: unknown) => {
          asked.push(token);
          return Promise.reject(gone);
        },
      },
    },
  });
  const { recordPhase: bare } = createRecordActivities(harness.deps);
  const input = await inputOf(await reportOf(harness, 'negotiate'));
  await expect(env.run(bare, input)).rejects.toThrow('somebody else may have the work');
  expect(asked).toHaveLength(1);
  expect(Object.keys(await readTree(harness.home)).some((path) => path.endsWith('.md'))).toBe(
    false,
  );
});

it('texts are cut with a pointer to the whole, and none opens what it does not close', async () => {
  const long = `${'word '.repeat(phaseLimits.sectionCharsMax)}end`;
  const report = await reportOf(harness, 'negotiate', {
    proposal: '# One\n\n<!-- hidden',
    reason: '```\n# Not a heading',
    said: '<details>\n## Claims',
    sectionText: long,
  });
  await record(report);
  const file = await fileOf('negotiate');
  const whole = report.spec.sections.find(({ section_id }) => section_id === 'risks')?.text_ref;
  expect(file).toContain(
    `*cut after ${phaseLimits.sectionCharsMax} of ${long.length} characters; whole: artifact ${whole}*`,
  );
  expect(file).toContain('&lt;!-- hidden');
  expect(file).toContain('&lt;details>');
  expect(file).toContain('  ```\n  # Not a heading\n  ```\n- Round 1, **carl');
  expect(file.match(/^## .*$/gm)).toEqual(['## Sections', '## Claims', '## What was said']);
});

it('a plan without the delegation, or a report of another version, is refused by name', async () => {
  const report = await reportOf(harness, 'negotiate');
  const input = await inputOf(report);
  const plan_ref = await harness.put(plan(delegation('other')));
  await expect(harness.recordPhase({ ...input, plan_ref })).rejects.toThrow(
    'The plan has no delegation "offer".',
  );
  const unknown = Object.assign({ ...report }, { version: 2 });
  await expect(harness.recordPhase({ ...input, report: unknown })).rejects.toThrow(
    "is no report of a triad's phase that this planwave reads",
  );
});
