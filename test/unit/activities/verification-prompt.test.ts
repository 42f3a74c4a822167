import { blockOf, createRun, jsonOf, render } from './prompt-bench.ts';
import { renderTaskInstructions } from '../../../core/design/templates.ts';
import { samplePlan } from '../../support/plans.ts';
import type { AgentOutput } from '../../../contracts/agent-output.ts';
import { outputOf, plan } from './bench.ts';
import type { VerificationFeedback } from '../../../contracts/verification.ts';

/** The first message of a verification, whose author ran these commands. */
async function renderVerification(
  commands: readonly { readonly command: string; readonly result: string }[],
  task: Partial<(typeof plan.delegations)[number]> = {},
  output: Partial<AgentOutput> = {},
): Promise<string> {
  const { bench } = await createRun();
  const output_ref = await bench.store.put(JSON.stringify(outputOf(output)));
  const evidence_ref = await bench.store.put(JSON.stringify({ checks: [], diff: '' }));
  const delegations = plan.delegations.map((one) =>
    one.delegation_id === 'write-report' ? { ...one, ...task } : one,
  );
  const planned = { ...plan, delegations };
  const prompt = {
    kind: 'verification',
    record_ref: bench.record_ref,
    plan_ref: await bench.store.put(JSON.stringify(planned)),
    delegation_id: 'write-report',
    upstream: [],
    output_ref,
    files: [],
    evidence_ref,
    commands: await Promise.all(
      commands.map(async ({ command, result }) => ({
        command,
        exit_code: 0,
        result_ref: await bench.store.put(result),
        files_changed_after: false,
      })),
    ),
    notes_ref: null,
    instructions_ref: null,
    guidance_refs: [],
  } as const;
  return render(bench, [{ type: 'prompt', prompt }]);
}

it('a verifier sees the commands of the author with exit codes and the end of what each printed', async () => {
  const text = await renderVerification([
    { command: 'npm test', result: `${'first line\n'.repeat(500)}# pass 12` },
  ]);
  const output_end = `${'first line\n'.repeat(500)}# pass 12`.slice(-1_000);
  expect(jsonOf(text, 'gathered_evidence')).toMatchObject({
    commands: [{ command: 'npm test', exit_code: 0, files_changed_after: false, output_end }],
  });
});

it('a verifier is told how to load the whole of a work that is cut', async () => {
  const load = 'All of it: load_detail {"detail_id":"write-report"}.';
  const long = { detailed_md: `# Report\n\n${'A line of it.\n'.repeat(10_000)}` };
  expect(blockOf(await renderVerification([], {}, long), 'work')).toContain(load);
  expect(blockOf(await renderVerification([]), 'work')).not.toContain(load);
});

it('a verifier is shown only the tools that are offered to it', async () => {
  const text = await renderVerification([]);
  expect(blockOf(text, 'allowed_tools')).not.toMatch(/write_file|run_command/);
});

it('a verifier reads what the task of a plan was, and none of the rules of its author', async () => {
  const design = samplePlan();
  const [task] = design.tasks;
  if (task === undefined) throw new Error('the sample has tasks');
  const task_description = renderTaskInstructions(design, task);
  const shown = blockOf(await renderVerification([], { task_description }), 'delegation');
  expect(shown).toContain('## Evidence');
  expect(shown).not.toMatch(/You MUST escalate|## Turn/);
});

it('a verifier is told where the output file of an author is who can write none', async () => {
  const none = 'Its author has no tool that writes files';
  expect(await renderVerification([], { agent_id: 'writer' })).toContain(none);
  expect(await renderVerification([], { agent_id: 'engineer' })).not.toContain(none);
});

it('VE7: whoever begins anew reads what failed before, and why it was given up afterwards', async () => {
  const { bench } = await createRun();
  const put = (value: unknown): Promise<string> => bench.store.put(JSON.stringify(value));
  const results = (why: string): Promise<string> =>
    put({ task_id: 'write-report', timestamp: 1, result: 'fail', missing_evidence: [why] });
  const given = {
    results_ref: await results('The source is gone.'),
    output_ref: null,
    gave_up: true,
    instructions_ref: null,
    guidance_refs: [],
  } as const;
  const prompt = {
    kind: 'delegation',
    record_ref: bench.record_ref,
    plan_ref: await put(plan),
    delegation_id: 'write-report',
    upstream: [],
  } as const;
  const show = (feedback: VerificationFeedback): Promise<string> =>
    render(bench, [{ type: 'prompt', prompt: { ...prompt, feedback } }]);
  expect(await show(given)).toMatch(/was tried before, and failed\..*The source is gone/s);
  const after = await show({
    ...given,
    output_ref: await put(outputOf({ detailed_md: 'The half of it.' })),
    failed_results_ref: await results('The other half.'),
  });
  expect(after).toMatch(
    /output failed .* once more, and failed\..*The half of it.*The other half.*The source is gone/s,
  );
});
