import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import { teamLimits } from '../../../activities/projection/limits.ts';
import { recordTeam } from '../../../activities/team/create-team-activities.ts';
import type { RecordTeamResult, TaskRecord, TeamReport } from '../../../contracts/team-run.ts';
import { AgentOutput } from '../../../contracts/agent-output.ts';
import { engineLimits } from '../../../core/limits.ts';
import { checkAgentOutput } from '../../../core/output/check-agent-output.ts';
import { readTree } from '../../support/read-tree.ts';
import { askedQuestion, usageOf } from '../../support/factories.ts';
import { failedTask, teamSetup } from '../../support/team-fixtures.ts';
import { useHarness } from './harness.ts';
import { output } from './samples.ts';
import { designReport, members, storedTask, triadTask } from './team-samples.ts';

const harness = useHarness();

const record = (report: TeamReport): Promise<RecordTeamResult> =>
  harness.recordTeam({ run_id: 'my-run', delegation_id: 'design', report });
const file = (): Promise<string> =>
  readFile(join(harness.home, 'my-run', 'teams', 'design.md'), 'utf8');
const outputBehind = async ({ output_ref }: RecordTeamResult): Promise<AgentOutput> =>
  AgentOutput.parse(JSON.parse(await harness.deps.store.getText(output_ref ?? '')));

/** A team whose time was over before its leader had answered. */
const timedOut = async (
  tasks: readonly TaskRecord[],
  over: Partial<TeamReport> = {},
): Promise<TeamReport> =>
  designReport(harness, tasks, {
    status: 'timed_out',
    reason: 'Its 300 s are over.',
    output_ref: null,
    ...over,
  });

it('a team that is done: who did what, what it cost, and each task in its order', async () => {
  const d1 = await storedTask(harness, 'd1', output({ compact_md: '# Prices\n\nTwo ways.' }));
  const d2 = await storedTask(harness, 'd2', null, {
    status: 'skipped',
    reason: 'design.d1 |\nfailed.',
    inputs: ['design.d1'],
    attempts: 0,
    usage: usageOf(0),
    worked_ms: 0,
  });
  const report = await designReport(harness, [d1, d2], {
    refused: [{ member_id: 'nobody', reason: 'There is none.\nTry: researcher' }],
    notes: ['A note.'],
    setup: teamSetup({ members, notes: ['member_timeout is 60.'] }),
  });
  const { report_ref, output_ref, unanswered } = await record(report);
  expect(JSON.parse(await harness.deps.store.getText(report_ref))).toEqual(report);
  expect(output_ref).toBe(report.output_ref);
  expect(unanswered).toBeUndefined();
  expect(await file()).toBe(`# Team: Title of design

- **State:** done
- **Delegation:** design, by a team without a name
- **Tasks:** 2 of at most 10, one after the other
- **Time:** 300 s of work at most, 60 s for one task
- **Report:** artifact ${report_ref}

## Message

Design the hall.

### For three machines

## Who did what

| who | what it is | tasks | calls | cost | tokens |
| --- | --- | --- | --- | --- | --- |
| leader | agent leader |  | 3 | $0.006 | 3.0k tokens in, 300 out |
| \`researcher\` | agent researcher | 2 | 2 | $0.004 | 2.0k tokens in, 200 out |
| \`sellers\` | dialectic triad, written by writer | 0 | 0 | $0.00 | 0 tokens in, 0 out |
| \`testers\` | team lab, led by leader, disabled | 0 | 0 | $0.00 | 0 tokens in, 0 out |
| **all** |  | 2 | 5 | $0.01 | 5.0k tokens in, 500 out |

## Answer

*completed; whole: artifact ${report.output_ref}*

The hall, in short.

## Tasks

### \`design.d1\`: Task d1

- **State:** completed
- **Member:** researcher
- **Took:** 1 attempt, 12 s of work, $0.004, 2.0k tokens in, 200 out
- **Whole:** artifact ${d1.output_ref}

#### What was asked

Do design.d1.

#### What came

##### Prices

Two ways.

### \`design.d2\`: Task d2

- **State:** skipped: design.d1 | failed.
- **Member:** researcher
- **Was given:** design.d1
- **Took:** 0 attempts, 0 s of work, $0.00, 0 tokens in, 0 out

#### What was asked

Do design.d2.

## Calls that were not carried out

- nobody: There is none. Try: researcher

## Notes

- member_timeout is 60.
- A note.
`);
});

it('recording twice changes nothing, and one that comes late leaves the file alone', async () => {
  const report = await designReport(harness, [await storedTask(harness, 'd1', output())]);
  const kept = await record(report);
  const tree = await readTree(harness.home);
  expect(await record(report)).toEqual(kept);
  expect(await readTree(harness.home)).toEqual(tree);
  // Suspended for longer than its heartbeat time-out: somebody else may have the work.
  const older = { ...report, notes: ['Older.'] };
  const worktrees = createGitWorktrees(harness);
  const late = recordTeam(
    { ...harness.deps, worktrees },
    { run_id: 'my-run', delegation_id: 'design', report: older },
    () => Promise.reject(new Error('superseded')),
  );
  await expect(late).rejects.toThrow('superseded');
  expect(await file()).not.toContain('Older.');
});

it('without an answer of the leader, what members asked, missed and assumed is handed on once', async () => {
  const brought = output({
    optional_questions: [askedQuestion({ text: 'Which currency?' })],
    missing_info_requests: [{ input: 'prices', why: 'No list.' }],
    assumptions_made: [{ statement: 'EUR.', confidence: 'low' }],
  });
  const d1 = await storedTask(harness, 'd1', brought);
  const d2 = await storedTask(harness, 'd2', brought);
  const partial = await outputBehind(await record(await timedOut([d1, d2])));
  const { optional_questions, missing_info_requests, assumptions_made } = brought;
  expect(partial).toMatchObject({ optional_questions, missing_info_requests, assumptions_made });
});

it('without an answer of the leader, what members brought is the output, marked as not whole', async () => {
  const brought = output({ compact_md: 'Two ways.', effects_claimed: ['a.md'] });
  const d1 = await storedTask(harness, 'd1', brought);
  const d2 = await storedTask(harness, 'd2', '{"compact_md":"Third way: ```', {
    member_id: 'sellers',
    reason: 'Its 60 s are over.',
  });
  const d3 = await storedTask(harness, 'd3', null, { status: 'stopped', reason: 'stopped' });
  const result = await record(await timedOut([d1, d2, d3]));
  const partial = await outputBehind(result);
  expect(partial).toMatchObject({ status: 'failed', facts: [], effects_claimed: ['a.md'] });
  expect(partial.coverage).toEqual({
    criteria_met: [],
    criteria_unmet: [
      {
        criterion_id: 'design-1',
        reason: "The team's leader gave no answer: Its 300 s are over.",
      },
    ],
  });
  expect(partial.compact_md)
    .toBe(`**Not whole.** The team's leader gave no answer: Its 300 s are over.

What came:

- \`design.d1\` by researcher: Two ways.
- \`design.d2\` by sellers: not whole: {"compact_md":"Third way: \`\`\`

What is missing:

- the answer of the leader
- \`design.d2\` by sellers: timed_out: Its 60 s are over.
- \`design.d3\` by researcher: stopped: stopped`);
  expect(partial.detailed_md).toContain(
    `*By researcher; completed; whole: artifact ${d1.output_ref}*\n\nTwo ways.\n\n## \`design.d2\``,
  );
  expect(partial.detailed_md).toContain(
    '*Not whole: what had arrived when its time was over.*\n\n````\n{"compact_md":"Third way: ```\n````\n\n## `design.d3`',
  );
  expect(await file()).toContain('The leader gave none. What its members brought stands below.');
});

it('what is put together keeps the rule of outputs and a size, whatever fifty members wrote', async () => {
  const long = `# ${'word '.repeat(4_000)}\n<!--`;
  const tasks = await Promise.all(
    Array.from({ length: engineLimits.teamDelegationsMax }, (_, n) =>
      storedTask(harness, `d${n}`, n % 2 === 0 ? output({ compact_md: long }) : long, {
        reason: long,
      }),
    ),
  );
  const result = await record(await timedOut(tasks, { reason: long }));
  const partial = await outputBehind(result);
  expect(result.unanswered).toBe(true);
  const outline = { ...partial, text_faults: [], output_ref: result.output_ref ?? '' };
  expect(checkAgentOutput(outline, ['design-1'])).toEqual([]);
  const perTask = teamLimits.compactCharsMax + 3 * teamLimits.lineCharsMax;
  expect(partial.detailed_md.length).toBeLessThan((tasks.length + 1) * perTask);
  expect(partial.compact_md.length).toBeLessThan(tasks.length * 4 * teamLimits.shortCharsMax);
  expect(partial.detailed_md).not.toContain('<!--');
});

it.each([
  ['nothing came', 'failed' as const, null],
  ['a guardrail blocked the team', 'blocked' as const, output({ compact_md: 'Held back.' })],
])('there is no output when %s', async (_, status, brought) => {
  const task = await storedTask(harness, 'd1', brought);
  const result = await record(await timedOut([task], { status }));
  expect(result).toMatchObject({ output_ref: null });
});

it('a team with a guardrail for its output hands on nothing that no guardrail has judged', async () => {
  const task = await storedTask(harness, 'd1', output({ compact_md: 'Never judged.' }));
  const guardrails = { input: [], output: ['embargo'] };
  const result = await record(
    await timedOut([task], { setup: teamSetup({ members, guardrails }) }),
  );
  expect(result).toMatchObject({ output_ref: null });
  // Who looks at how the team worked sees it.
  expect(await file()).toContain('Never judged.');
});

it('a guardrail that blocks an answer holds it back, also where the report still names it', async () => {
  const report = await designReport(harness, [], { status: 'blocked', reason: 'It has a secret.' });
  expect(await record(report)).toMatchObject({ output_ref: null });
  expect(await file()).toContain('- **State:** blocked: It has a secret.');
  expect(await file()).toContain('## Tasks\n\nThe leader gave out none.');
});

it('an answer that was held back is not told as one that the leader never gave', async () => {
  await record(await designReport(harness, [], { status: 'blocked', output_ref: null }));
  expect(await file()).toContain('## Answer\n\nIt was held back.');
});

it('a triad among the members: its file stands where its task says, and its minority report comes along', async () => {
  await record(await designReport(harness, [await triadTask(harness, 'design.d2')]));
  expect(await file()).toContain('- **How the triad came to it:** triads/design.d2/execute.md');
  expect(Object.keys(await readTree(join(harness.home, 'my-run')))).toEqual([
    'teams/design.md',
    'triads/design.d2/execute.md',
  ]);
});

it('a plan without the delegation, or a report of another version, is refused by name', async () => {
  const report = await designReport(harness, [failedTask('d1', 'failed')]);
  await expect(record(report)).rejects.toThrow('artifact');
  const other = await designReport(harness, []);
  await expect(
    harness.recordTeam({ run_id: 'my-run', delegation_id: 'other', report: other }),
  ).rejects.toThrow('The plan has no delegation "other".');
  const unknown = Object.assign({ ...other }, { version: 2 });
  await expect(record(unknown)).rejects.toThrow('is no report of a team that this planwave reads');
});
