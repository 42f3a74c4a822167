import { eventually } from '../../support/eventually.ts';
import { runCommand } from '../../support/run-command.ts';
import { useStage } from '../../support/use-stage.ts';
import { createFakeIo } from '../../unit/client/support/fake-io.ts';

const { stage } = useStage({ deploymentName: 'not-current' });

it('status and watch of a run say that no worker of the current version polls, and the command that makes one current', async () => {
  const run = await stage.start('plannerRun', { goal: 'Compare three databases' });
  const cause = `1 worker polls the task queue ${stage.taskQueue}, but new runs go to workers without a version, and none polls`;
  const shown = await eventually('the server knows the version of the worker', async () => {
    const { out } = await runCommand(stage, ['status', run.workflowId]);
    return out.includes('not-current') && out;
  });
  expect(shown).toContain(
    `${cause}; this is the last known state. Try: temporal worker deployment`,
  );
  expect(shown).toMatch(
    /set-current-version --deployment-name not-current --build-id planwave\+\w+ --namespace default --address /,
  );

  const io = createFakeIo();
  const watching = runCommand(stage, ['watch', run.workflowId], null, io);
  await eventually('watch has told it', async () => io.out().includes(cause));
  await run.terminate();
  await watching;
  expect(io.out()).not.toContain('No worker is running');
});
