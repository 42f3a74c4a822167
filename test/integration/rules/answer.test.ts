import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openQuestion, submit } from '../../support/asking.ts';
import { faultsOf } from '../../support/calls.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  completed,
  decision,
  plan,
  plans,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';
import { provideWritingAgent } from '../../support/writing-agent.ts';

const { stage } = useStage();

const goal = 'Write a module for ISO 8601 durations';

const decides = (nth: number, answer: ReturnType<typeof decision>['answer']) => ({
  match: { schema: 'decision' as const, nth },
  reply: { json: { ...decision(), answer } },
});

it('finding R1: an answer that is missing or does not exist goes back; what is named then is what the user gets', async () => {
  const path = 'src/duration.ts';
  const content = 'export const second = 1;\n';
  stage.rehearsal.script([
    plans(1, plan([work('build', { agent_id: 'builder' }), work('fail')])),
    works('build', { tool_use: [{ name: 'write_file', input: { path, content } }] }, 1),
    works('build', { json: { ...completed('build-done'), effects_claimed: [path] } }),
    works('fail', { json: unmet('failed', 'No way.', 'fail-done') }),
    { match: { schema: 'decision', nth: 1 }, reply: { json: decision('fail-done') } },
    plans(2, plan([work('again', { criteria: ['fail-done'] })])),
    works('again', { json: completed('fail-done') }),
    decides(2, null),
    decides(3, { kind: 'delegation', value: 'fail' }),
    // Of the wave before.
    decides(4, { kind: 'file', value: path }),
  ]);
  const agents_dir = provideWritingAgent(stage.home, 'builder', 'low');
  const run = await stage.start('plannerRun', { goal, agents_dir });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 2 });
  const decisions = stage.rehearsal.calls().filter(({ shape }) => shape === 'decision');
  expect(decisions.map((call) => faultsOf(call))).toMatchObject([
    [],
    [],
    [expect.stringContaining('answer')],
    [expect.stringContaining('"fail" is no delegation of this run that completed')],
  ]);
  expect(result.answer).toBe(
    `The file \`${path}\`, in the folder \`workspace\` beside \`result.md\`.\n\n\`\`\`ts\n${content}\`\`\``,
  );
  const text = readFileSync(join(stage.home, result.result_path), 'utf8');
  expect(text.endsWith(`---\n\n${result.answer}\n`)).toBe(true);
  const file = join(stage.home, result.result_path, '..', 'workspace', path);
  expect(readFileSync(file, 'utf8')).toBe(content);
  await expectPromisesKept(stage, run.workflowId);
});

it('finding R1: a run that ends before an answer was named gives what was finished until then', async () => {
  const detailed_md = '# Guide\n\nBegin here.';
  stage.rehearsal.script([
    plans(1, plan([work('guide'), work('price')])),
    works('guide', { json: { ...completed('guide-done'), detailed_md } }),
    works('price', { json: unmet('failed', 'No way.', 'price-done') }),
    { match: { schema: 'decision' }, reply: { json: decision('price-done') } },
  ]);
  const run = await stage.start('plannerRun', { goal, limits: { max_waves: 1 } });
  const { question_id } = await openQuestion(stage, run);
  await submit(run, { question_id, answer: 'finish' });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'finished_unmet', answer: detailed_md });
  const text = readFileSync(join(stage.home, result.result_path), 'utf8');
  expect(text).toContain('**Not the last word:** The run was ended before it gave an answer.');
  expect(text).toContain('**Not met:** price-done can be seen in the result.');
  await expectPromisesKept(stage, run.workflowId);
});
