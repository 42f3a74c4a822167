import { expectPromisesKept } from '../../support/promises.ts';
import {
  completed,
  decision,
  newestText,
  plan,
  plans,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

it('finding W1: the planner reads the work, and loads what was cut before it decides', async () => {
  const end = 'The last line says that beta is dearer.';
  const detailed_md = `# Prices\n\n${'Alpha costs 5 euro a month.\n'.repeat(5_000)}\n\n${end}\n`;
  stage.rehearsal.script([
    plans(1, plan([work('prices')])),
    works('prices', { json: { ...completed('prices-done'), detailed_md } }),
    {
      match: { schema: 'decision', nth: 1 },
      reply: {
        tool_use: [
          { name: 'load_detail', input: { detail_id: 'prices', page: 8 } },
          { name: 'write_file', input: { path: 'a.md', content: 'no' } },
        ],
      },
    },
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await stage.start('plannerRun', { goal: 'Compare prices' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  const [first, second] = stage.rehearsal.calls().filter(({ shape }) => shape === 'decision');
  expect(newestText(first)).toContain('Alpha costs 5 euro a month.\nAlpha costs');
  expect(newestText(first)).toContain('All of it: load_detail {"detail_id":"prices"}.');
  expect(newestText(first)).not.toContain(end);
  const results = JSON.stringify(second?.body);
  expect(results).toContain(end);
  expect(results).toContain(
    'There is no tool \\"write_file\\" for you. You may call: \\"load_detail\\".',
  );
  await expectPromisesKept(stage, run.workflowId);
});
