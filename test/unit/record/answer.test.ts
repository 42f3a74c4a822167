import { hashBytes } from '../../../activities/text/bytes.ts';
import type { AgentOutput } from '../../../contracts/agent-output.ts';
import type { RecordedEffect } from '../../../contracts/effect.ts';
import type { RunStatus } from '../../../contracts/planner-run.ts';
import type { RecordChange } from '../../../contracts/run-record.ts';
import { engineLimits } from '../../../core/limits.ts';
import { samplePlan } from '../../support/plans.ts';
import { readTree } from '../../support/read-tree.ts';
import { createFolder, useHarness } from './harness.ts';
import {
  answered,
  decision,
  delegation,
  met,
  outcome,
  output,
  plan,
  question,
  usage,
  wave,
} from './samples.ts';
import type { WaveDecision } from '../../../contracts/wave-plan.ts';

const harness = useHarness();

const goal = 'Compare ways to back up a laptop';
const guide = output({
  detailed_md: '# Three ways\n\nTake the second.\n',
  assumptions_made: [{ statement: 'The laptop runs Linux.', confidence: 'medium' }],
  coverage: met('guide-1'),
});

/** A wave whose delegations gave these outputs, with the planner's decision on it; null: nobody decided. */
async function waveOf(
  at: number,
  outputs: Readonly<Record<string, AgentOutput>>,
  answer: WaveDecision['answer'] | undefined,
): Promise<RecordChange> {
  const delegations = Object.keys(outputs).map((id) => delegation(id));
  const outcomes = await Promise.all(
    delegations.map((one) => outcome(harness, one, outputs[one.delegation_id] ?? null)),
  );
  return {
    type: 'wave_done',
    wave: wave(at, {
      plan_ref: await harness.put(plan(...delegations)),
      outcomes,
      ...(answer === undefined
        ? { status: 'stopped' }
        : { decision_ref: await harness.put(decision({ answer })) }),
    }),
    criteria: outcomes.flatMap(({ delegation_id, criteria_met }) =>
      criteria_met.map((criterion_id) => ({ criterion_id, state: 'met', delegation_id })),
    ),
  };
}

const endRun = (status: RunStatus, ...changes: readonly RecordChange[]) =>
  endRunOf({ goal }, status, ...changes);

async function endRunOf(input: object, status: RunStatus, ...changes: readonly RecordChange[]) {
  const run = await harness.begin('my-run', input);
  const { result } = await run.apply(...changes, { type: 'ended', status, usage: usage(3) });
  const tree = await readTree(`${harness.home}/my-run`);
  const summary = Object.keys(tree).find((path) => path.startsWith('conversation_summary'));
  return {
    answer: result?.answer ?? '',
    result: tree['result.md'] ?? '',
    report: tree['report.md'] ?? '',
    summary: tree[summary ?? ''] ?? '',
  };
}

/** The lines before the answer that say something. */
const headOf = (result: string): readonly string[] =>
  result
    .split('\n---\n')[0]
    ?.split('\n')
    .filter((line) => line !== '') ?? [];

const engineWords = /delegation|detailed_md|wave|criterion|guide-1|planner/i;

it('finding R1: result.md is the answer after at most ten lines, without a word of the engine', async () => {
  const review = output({ detailed_md: '# Review\n\nTwo findings.\n', coverage: met('review-1') });
  const { answer, result, report } = await endRun(
    'completed',
    await waveOf(1, { guide, review }, { kind: 'delegation', value: 'guide' }),
  );
  expect(answer).toBe('# Three ways\n\nTake the second.');
  expect(result).toBe(`# Result: Compare ways to back up a laptop

- **Status:** Completed: every criterion is met with evidence or by your answer, or was waived by you.
- **Assumed:** The laptop runs Linux.
- **Sources:** No source was opened: this is what the model knew.
- **Evidence, versions, questions, cost:** \`report.md\`

---

# Three ways

Take the second.
`);
  expect(report).toContain('Evidence for guide-1.');
  expect(report).toContain(
    '*guide, by researcher: agents/researcher/task_output/guide.md* This is the answer.',
  );
  expect(report).not.toContain('Take the second.');
});

it('finding R1: the head keeps to ten lines whatever is open, and names it in plain words', async () => {
  const many = Array.from({ length: 9 }, (_, n) => `[redacted:aws] thing ${n} `.repeat(40));
  const draft = output({
    missing_info_requests: many.map((input) => ({ input: input.slice(0, 200), why: 'Because.' })),
    assumptions_made: many.map((statement) => ({
      statement: statement.slice(0, 900),
      confidence: 'low',
    })),
    coverage: { criteria_met: [], criteria_unmet: [] },
  });
  const planned = plan(delegation('draft'), delegation('rest'));
  const changes: readonly RecordChange[] = [
    { type: 'question_opened', question: question('q1', { text: 'Which disk?' }) },
    {
      type: 'wave_done',
      wave: wave(1, {
        status: 'stopped',
        plan_ref: await harness.put(planned),
        outcomes: [await outcome(harness, delegation('draft'), draft)],
      }),
      criteria: [],
    },
  ];
  const { result } = await endRun('stopped', ...changes);
  const head = headOf(result);
  expect(head.length).toBeLessThanOrEqual(9);
  expect(head.join('\n')).toMatch(/^- \*\*Not met:\*\* draft is done; rest is done$/m);
  expect(head.join('\n')).toContain(
    '**Open or unproven:** not answered: Which disk?; never supplied:',
  );
  expect(head.join('\n')).toContain('; and 7 more');
  expect(head.join('\n')).toContain('looked like a secret:** ');
  for (const line of head) expect(line.length).toBeLessThan(800);
  expect(head.join('\n')).not.toMatch(engineWords);
});

it('finding R1: a run that was ended before shows the newest answer that stands, and says so', async () => {
  const named = await waveOf(1, { guide }, { kind: 'delegation', value: 'guide' });
  const later = await endRun('stopped', named, await waveOf(2, {}, undefined));
  expect(later.answer).toBe('# Three ways\n\nTake the second.');
  expect(later.result).toContain(
    '**Not the last word:** The run was ended before its last step gave an answer.',
  );

  const unnamed = await endRun(
    'stopped',
    await waveOf(
      1,
      { guide, 'second-guide': output({ detailed_md: '# More\n\nTake the third.' }) },
      null,
    ),
  );
  expect(unnamed.answer).toBe(
    '## Title of second-guide\n\n### More\n\nTake the third.\n\n## Title of guide\n\n### Three ways\n\nTake the second.',
  );
  expect(unnamed.result).toContain('These are the results until then, the newest first.');
  expect(headOf(unnamed.result).join('\n')).not.toMatch(engineWords);

  const nothing = await endRun('abandoned');
  expect(nothing.answer).toBe('');
  expect(nothing.result).toMatch(/\n---\n\nThere is no answer\.\n$/);
});

it('finding R1: an answer that was replaced since is not shown', async () => {
  const again = delegation('again', {
    acceptance_criteria: delegation('guide').acceptance_criteria,
  });
  const better = output({ detailed_md: '# Better\n', coverage: met('guide-1') });
  const { answer, report } = await endRun(
    'stopped',
    await waveOf(1, { guide }, { kind: 'delegation', value: 'guide' }),
    {
      type: 'wave_done',
      wave: wave(2, { status: 'stopped', outcomes: [await outcome(harness, again, better)] }),
      criteria: [],
    },
  );
  expect(answer).toBe('# Better');
  expect(report).toContain('### Superseded versions\n\n- `guide` of wave 1: Title of guide:');
});

const content = 'export const second = 1;\n';

async function written(path: string, over: Partial<RecordedEffect> = {}): Promise<RecordChange> {
  const effect: RecordedEffect = {
    effect_id: 'build/effect-1',
    wave: 1,
    delegation_id: 'build',
    agent_id: 'engineer',
    tool: 'write_file',
    arguments_ref: await harness.put({ path, content }),
    state: 'confirmed',
    target: path,
    receipt: { target: path, sha256: hashBytes(content), bytes: content.length },
    reason: '',
    approval_question_id: null,
    updated_at: 1_760_000_000,
    ...over,
  };
  return { type: 'effect', effect };
}

it('finding R1: an answer that is a file names its folder and shows its text where that is small', async () => {
  const path = 'src/duration.ts';
  const named = await waveOf(1, { build: output() }, { kind: 'file', value: path });
  const { answer } = await endRun('completed', await written(path), named);
  expect(answer).toBe(
    `The file \`${path}\`, in the folder \`workspace\` beside \`result.md\`.\n\n\`\`\`ts\n${content}\`\`\``,
  );
  const large = { target: path, sha256: hashBytes(content), bytes: 1_000_000 };
  const { answer: place } = await endRun(
    'completed',
    await written(path, { receipt: large }),
    named,
  );
  expect(place).toBe(`The file \`${path}\`, in the folder \`workspace\` beside \`result.md\`.`);
  const other = { target: path, sha256: 'b'.repeat(64), bytes: 10 };
  const { answer: unproven } = await endRun(
    'completed',
    await written(path, { receipt: other }),
    named,
  );
  expect(unproven).toBe(place);
});

it('an answer that is a file shows its text after the last edit', async () => {
  const path = 'src/duration.ts';
  const edited = content.replace('1', '2');
  const content_ref = await harness.deps.store.put(edited);
  const { answer } = await endRun(
    'completed',
    await written(path),
    await written(path, {
      effect_id: 'build/effect-2',
      tool: 'edit_file',
      arguments_ref: await harness.put({ path, old_string: '1', new_string: '2' }),
      receipt: { target: path, sha256: hashBytes(edited), bytes: edited.length, content_ref },
    }),
    await waveOf(1, { build: output() }, { kind: 'file', value: path }),
  );
  expect(answer).toBe(
    `The file \`${path}\`, in the folder \`workspace\` beside \`result.md\`.\n\n\`\`\`ts\n${edited}\`\`\``,
  );
});

it('an answer that is a result of a plan’s agent is named with its worktree, any other file with the folder', async () => {
  const dir = await createFolder();
  const plan_refs = [await harness.put(samplePlan())];
  const progress = { plan_refs, approved_by: null, materials: [], findings: [], usage: usage(0) };
  const answerIn = async (path: string): Promise<string> => {
    const { answer } = await endRunOf(
      { goal, workspace_dir: dir },
      'completed',
      { type: 'designed', progress: { ...progress, status: 'approved' } },
      await written(path),
      await waveOf(1, { build: output() }, { kind: 'file', value: path }),
    );
    return answer.split('\n')[0] ?? '';
  };
  const path = 'agents/database_agent/task_output/schema.md';
  expect(await answerIn(path)).toBe(
    `The file \`${path}\`, in the folder \`worktrees/build/files\` beside \`result.md\`.`,
  );
  const own = 'agents/schema.md';
  expect(await answerIn(own)).toBe(`The file \`${own}\`, in the folder \`${dir}\`.`);
});

it('finding R2: the workflow returns the answer, a long one in part with its path', async () => {
  const long = output({ detailed_md: 'word '.repeat(10_000) });
  const { answer, result } = await endRun(
    'completed',
    await waveOf(1, { guide: long }, { kind: 'delegation', value: 'guide' }),
  );
  expect(answer.length).toBeLessThanOrEqual(engineLimits.returnedAnswerCharsMax);
  expect(answer).toMatch(/…\n\n… 49999 characters in all; the whole is in my-run\/result\.md$/);
  expect(result).toContain(long.detailed_md.trim());
});

const asking = (...inputs: readonly string[]): AgentOutput =>
  output({ missing_info_requests: inputs.map((input) => ({ input, why: `Needs ${input}.` })) });

it('finding F4: the report lists what agents asked for and nobody supplied', async () => {
  const { report } = await endRun(
    'finished_unmet',
    await waveOf(1, { draft: asking('Disk prices', 'guide', 'What about q1?'), guide }, null),
    { type: 'question_answered', answered: answered('q1'), answer_ref: null },
    await waveOf(2, { second: asking('disk prices', 'Power') }, null),
  );
  expect(report).toContain(
    '## Information that was asked for and never came\n\n- disk prices: Needs disk prices. (second)\n- Power: Needs Power. (second)\n\n',
  );
});

const asked = (id: string, by: string, answer: string): RecordChange => ({
  type: 'question_answered',
  answered: answered(id, { answered_by: by, answer }),
  answer_ref: null,
});

it('finding R4: the conversation summary tells what was decided, and what was only assumed', async () => {
  const { summary } = await endRun(
    'completed',
    asked('q1', 'planner-assumption', 'PostgreSQL'),
    asked('q2', 'ann', 'Berlin'),
    asked('q3', 'default', 'yes'),
    await waveOf(1, { guide }, { kind: 'delegation', value: 'guide' }),
  );
  const part = (heading: string): string =>
    summary.split(/^## /m).find((one) => one.startsWith(`${heading}\n`)) ?? '';
  const decisions = part('Key Decisions Made');
  expect(decisions).toContain('Decision: Wave 1 does guide (researcher)');
  expect(decisions).toContain('Decision: Wave 1 is enough (OK)');
  expect(decisions).toContain('Decision: The answer is the result of guide');
  expect(decisions).not.toContain('None');
  expect(part('Questions Resolved')).toBe(
    'Questions Resolved\n- Q: What about q2?\n- A (ann): Berlin\n\n',
  );
  const assumptions = part('Constraints & Assumptions');
  expect(assumptions.match(/PostgreSQL/g)).toHaveLength(1);
  expect(assumptions).toContain(
    '- Assumption (the planner assumed it, q1): What about q1? PostgreSQL',
  );
  expect(assumptions).toContain('- Assumption (the default was taken, q3): What about q3? yes');
});

it('only a file can be the answer of kind "file": no command, though it is an effect too', async () => {
  const run = await harness.begin('answers-of-files');
  const command = { exit_code: 0, confined: true, output_ref: null };
  const receipt = { target: 'npm test', sha256: 'c'.repeat(64), bytes: 1, command };
  await run.apply(
    await written('src/second.ts'),
    await written('npm test', { effect_id: 'build/effect-2', tool: 'run_command', receipt }),
  );
  const done = await outcome(
    harness,
    delegation('build'),
    output({ effects_claimed: ['npm test'] }),
  );
  const review = async (value: string): Promise<string[]> => {
    const { faults } = await harness.reviewDecision({
      record_ref: run.ref(),
      wave: 1,
      outcomes: [{ ...done, executor_end: null }],
      decision_ref: await harness.put(decision({ answer: { kind: 'file', value } })),
    });
    return faults.map(({ reason, hint }) => `${reason}. ${hint}`);
  };
  expect(await review('src/second.ts')).toEqual([]);
  expect(await review('npm test')).toEqual([
    '"npm test" is no file that this run is known to have written. Try: one of "src/second.ts"',
  ]);
});

it('the result has the reasons of open criteria from all waves, also those before this run or execution', async () => {
  const run = await harness.begin('my-run', { goal, criteria: ['Fast'] });
  const failed = await outcome(harness, delegation('host'), null, {
    status: 'failed',
    reason: 'No server. '.repeat(100),
    criteria_unmet: ['goal-1', 'other'],
  });
  const open = { criterion_id: 'goal-1', state: 'open', delegation_id: null } as const;
  const { result } = await run.apply(
    { type: 'wave_done', wave: wave(1, { outcomes: [failed] }), criteria: [open] },
    { type: 'ended', status: 'stopped', usage: usage(3) },
  );
  const cut = `host: ${'No server. '.repeat(100)}`.slice(0, 199);
  expect(result?.unmet_reasons).toEqual({ 'goal-1': `${cut}…` });
});
