import type { AgentOutput, EvidencePlace } from '../../../contracts/agent-output.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import type { Reply } from '../../../rehearsal/script.ts';
import { bodyOf, faultsOf, scriptedCalls } from '../../support/calls.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { blocked, completed, question, work, works } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const task = { agent_id: 'writer', task_description: 'Write one page about backups.' };
const good = JSON.stringify(completed('c1'));

const claiming = (
  where: EvidencePlace,
  evidence = 'Section 4 lists five sources that were looked up.',
): AgentOutput['coverage'] => ({
  criteria_met: [{ criterion_id: 'c1', evidence, where }],
  criteria_unmet: [],
});

type BadRow = readonly [title: string, reply: Reply, said: string];

const badRows: readonly BadRow[] = [
  ['broken JSON', { text: good.replace('"status":', '"status"') }, 'the JSON is broken'],
  ['truncated JSON', { text: good.slice(0, -20) }, 'the JSON is broken'],
  ['prose before it', { text: `Here is my output:\n${good}` }, 'the answer is not JSON alone'],
  ['prose after it', { text: `${good}\nI hope this helps!` }, 'text follows it'],
  ['prose alone', { text: 'All done.' }, 'the answer is not JSON alone'],
  ['JSON of another shape', { json: { answer: 42 } }, 'compact_md: missing, expected string'],
  [
    'a field too many',
    { json: { ...completed('c1'), confidence: 1 } },
    'fields that do not belong here: "confidence"',
  ],
  [
    'a rule broken: a criterion in neither list',
    { json: completed() },
    'these criteria are in neither list: "c1"',
  ],
  [
    'a rule broken: completed with a blocking question',
    { json: { ...completed('c1'), blocking_questions: [question('For whom?')] } },
    'status is "completed" but there are 1 blocking questions',
  ],
  [
    'a rule broken: blocked without a question',
    { json: { ...completed('c1'), status: 'blocked' } },
    'status is "blocked" but there is no blocking question',
  ],
  [
    'a rule broken: evidence that names nothing',
    {
      json: {
        ...completed('c1'),
        coverage: claiming({ kind: 'heading', value: 'Result' }, 'done'),
      },
    },
    'the evidence "done" is too short',
  ],
  [
    'finding W1: evidence that nobody finds',
    {
      json: {
        ...completed('c1'),
        coverage: claiming({ kind: 'heading', value: 'Section 4' }),
      },
    },
    'detailed_md has no heading "Section 4"',
  ],
  [
    'finding W1: the deliverable "TODO"',
    { json: { ...completed('c1'), detailed_md: 'TODO' } },
    'the whole text is a placeholder: "TODO"',
  ],
];

it.each(badRows)(
  'fault 27: %s goes back once with the reason, and the repaired output counts',
  async (_title, reply, said) => {
    stage.rehearsal.script([{ times: 1, reply }]);
    const run = await stage.start('delegation', task);
    const outcome: DelegationOutcome = await run.result();
    expect(outcome).toMatchObject({
      status: 'completed',
      turns: 2,
      usage: { calls: 2 },
      criteria_met: ['c1'],
    });
    expect(scriptedCalls(stage)).toHaveLength(1);
    const second = stage.rehearsal.calls()[1];
    // The model sees its own output and what is wrong with it: path, reason, and what to try.
    expect(bodyOf(second).messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    const faults = faultsOf(second);
    expect(faults.join('\n')).toContain(said);
    for (const fault of faults) expect(fault).toContain('Try: ');
    await expectPromisesKept(stage, run.workflowId);
  },
);

/** One of each kind: what follows from a fault does not depend on which it is. */
const hopelessRows = badRows.filter(([title]) =>
  /^(?:broken|truncated|prose before|JSON of|a rule broken: a criterion)/.test(title),
);

it.each(hopelessRows)(
  'fault 27: %s three times fails the delegation with the last reason',
  async (_title, reply, said) => {
    stage.rehearsal.script([{ reply }]);
    const run = await stage.start('delegation', task);
    const outcome: DelegationOutcome = await run.result();
    expect(outcome).toMatchObject({
      status: 'failed',
      turns: 3,
      usage: { calls: 3 },
      output_ref: null,
      criteria_unmet: ['c1'],
    });
    expect(outcome.reason).toContain('No valid output in 3 attempts.');
    expect(outcome.reason).toContain(said);
    expect(scriptedCalls(stage)).toHaveLength(3);
    expect(stage.rehearsal.counts().calls).toBe(3);
    await expectPromisesKept(stage, run.workflowId);
  },
);

it('fault 27: a fence around the JSON is no fault', async () => {
  stage.rehearsal.script([{ reply: { text: `\`\`\`json\n${good}\n\`\`\`` } }]);
  const run = await stage.start('delegation', task);
  const outcome: DelegationOutcome = await run.result();
  expect(outcome).toMatchObject({ status: 'completed', turns: 1 });
  expect(scriptedCalls(stage)).toHaveLength(1);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 27: the reason is that of the last attempt, not of an earlier one', async () => {
  stage.rehearsal.script([
    { times: 1, reply: { text: 'No JSON at all.' } },
    { times: 1, reply: { text: good.slice(0, -20) } },
    { times: 1, reply: { json: completed('c9') } },
  ]);
  const run = await stage.start('delegation', task);
  const outcome: DelegationOutcome = await run.result();
  expect(outcome.status).toBe('failed');
  expect(outcome.reason).toContain('"c9" is no criterion of this delegation');
  expect(outcome.reason).not.toContain('not JSON');
  expect(scriptedCalls(stage)).toHaveLength(3);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 27: attempts count anew after an answer, and the wave goes on after a failed delegation', async () => {
  const asks: Reply = {
    json: blocked([question('For whom?', { default_answer: 'everybody' })], 'a-done'),
  };
  const noJson: Reply = { text: 'Not JSON.' };
  stage.rehearsal.script([
    works('a', noJson, 1),
    works('a', noJson, 2),
    works('a', asks, 3),
    works('a', noJson, 4),
    works('a', noJson, 5),
    works('b', noJson),
  ]);
  const run = await stage.start('plannerWave', {
    goal: 'Two tasks',
    use_defaults: true,
    delegations: [work('a'), work('b'), work('c', { required_inputs: ['b'], depends_on: ['b'] })],
  });
  const wave: WaveResult = await run.result();
  expect(wave.status).toBe('decided');
  expect(wave.outcomes.map(({ status, turns }) => [status, turns])).toEqual([
    ['completed', 6],
    ['failed', 3],
    ['skipped', 0],
  ]);
  expect(scriptedCalls(stage)).toHaveLength(8);
  expect(wave.usage.calls).toBe(stage.rehearsal.counts().calls);
  await expectPromisesKept(stage, run.workflowId);
});
