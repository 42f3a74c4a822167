import { temporalLinks } from '../../../scripts/say.ts';
import { openQuestion } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { runCommand } from '../../support/run-command.ts';
import { useStage } from '../../support/use-stage.ts';

// A list of its own: the shared server has the runs of other tests.
const { stage } = useStage({ serverArguments: [] });

/** One input of every type that a person may start, each with something to ask. */
const asking = [
  ['plannerRun', { goal: 'Compare three databases' }],
  ['plannerWave', { goal: 'Compare two ways' }],
  ['delegation', { agent_id: 'writer', task_description: '[ask] A haiku on backups' }],
  ['triad', { type: 'dialectic', task: '[ask] Choose where a backup goes' }],
] as const;

it('finding U2: one inbox has the questions of all that people started; the printed links list the same', async () => {
  const ids: string[] = [];
  for (const [type, input] of asking) {
    const started = await stage.start(type, input, `asks-${type.toLowerCase()}`);
    await openQuestion(stage, started);
    ids.push(started.workflowId);
  }
  const quiet = await stage.start('delegation', { agent_id: 'writer', task_description: 'Hi' });
  await quiet.result();
  const sorted = ids.toSorted();

  // The server lists what a run tells of itself a moment later, and a busy worker may not answer the first time.
  const inbox = await eventually('all of them in the inbox', async () => {
    const { code, out } = await runCommand(stage, ['questions']);
    const hasAll = ids.every((id) =>
      out.includes(`answer with: npm run planwave -- answer ${id} q1 `),
    );
    return code === 0 && hasAll ? out : null;
  });
  for (const id of ids) expect(inbox).toMatch(new RegExp(`^${id} · `, 'm'));
  expect(inbox).not.toContain(quiet.workflowId);
  const asked = await eventually('their questions as JSON', async () => {
    const { out } = await runCommand(stage, ['questions', '--json']);
    const { runs }: { runs: readonly { questions: unknown }[] } = JSON.parse(out);
    return runs.every(({ questions }) => questions !== null) && runs;
  });
  expect(asked).toMatchObject(ids.map(() => ({ questions: [{}] })));

  const lines = temporalLinks('http://localhost:8233').split('\n');
  const found = async (label: string): Promise<string[]> => {
    const link =
      lines
        .find((line) => line.startsWith(label))
        ?.slice(label.length)
        .trim() ?? '';
    const query = new URL(link).searchParams.get('query') ?? '';
    const listed: string[] = [];
    for await (const { workflowId } of stage.client.workflow.list({ query }))
      listed.push(workflowId);
    return listed.toSorted();
  };
  expect(await found('Your inbox:')).toEqual(sorted);
  await eventually('the quiet one in the list', async () =>
    (await found('Its runs:')).includes(quiet.workflowId),
  );
  expect(await found('Its runs:')).toEqual([...ids, quiet.workflowId].toSorted());

  for (const id of ids) await stage.client.workflow.getHandle(id).terminate();
  await eventually('an empty inbox', async () => {
    const { out: left } = await runCommand(stage, ['questions']);
    return left === 'No open questions.\n';
  });
});

describe('finding U8: what is misspelt is named, with the nearest name', () => {
  it('a workflow type', async () => {
    const { taskQueue, client } = stage;
    const workflowId = 'mistyped';
    await client.workflow.start('plannerRunn', { taskQueue, workflowId, args: [{ goal: 'x' }] });
    const shown = await runCommand(stage, ['status', workflowId]);
    expect(shown.out).toContain(
      'Misspelt: mistyped was started as the workflow type "plannerRunn", which planwave does not have. ' +
        'The nearest is "plannerRun"; ',
    );
    expect(shown.out).toMatch(
      /Try: .*workflow terminate --workflow-id mistyped, then start it again/,
    );
    expect(shown.out).not.toContain('Stuck');
    await eventually('the run in the list', async () =>
      (await runCommand(stage, ['list'])).out.includes('mistyped'),
    );
    await client.workflow.getHandle(workflowId).terminate();
  });

  it('a task queue', async () => {
    const [taskQueue, workflowId] = ['planwav', 'misplaced'];
    const args = [{ goal: 'x' }];
    await stage.client.workflow.start('plannerRun', { taskQueue, workflowId, args });
    const { out } = await runCommand(stage, ['status', workflowId]);
    expect(out).toContain('No worker polls the task queue "planwav", on which the run was started');
    expect(out).toContain(`The task queue here is "${stage.taskQueue}".`);
    await stage.client.workflow.getHandle(workflowId).terminate();
  });
});
