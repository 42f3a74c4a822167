import { readPlanFile } from '../../../client/cli/commands/plan-file.ts';
import { stageNames } from '../../../contracts/names.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { playDesign, readPlayedDesign } from '../../support/played/played-design.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { stagesUntilApproval } from '../../support/scripted-design.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** Starts a design, plays the model's replies, and answers each of its questions as the player did. */
async function playUntilApproval(name: Parameters<typeof readPlayedDesign>[0]) {
  const design = readPlayedDesign(name);
  const played = playDesign(design);
  stage.rehearsal.script([{ reply: played.reply }]);
  const run = await stage.start('architectureDesign', { goal: design.goal });
  for (const [question_id, answer] of Object.entries(design.answers)) {
    await openQuestion(stage, run, question_id);
    await submit(run, { question_id, answer });
  }
  return { design, played, run };
}

it('a design as a strong model played it is approved without a call more, and its plan has every part', async () => {
  const { design, played, run } = await playUntilApproval('postgres-move');
  expect(await run.result()).toMatchObject({
    status: 'approved',
    findings: [],
    approved_by: 'q6',
    plan: { tasks: 6, proofs_of_concept: 1 },
    usage: { calls: design.replies.length },
  });
  expect(played.left()).toEqual([]);
  const { out } = await runCommand(stage, ['plan', 'export', run.workflowId]);
  const { tasks = [], risks, agents } = readPlanFile(out).plan ?? {};
  expect(risks).toHaveLength(4);
  expect(agents?.find(({ agent_name }) => agent_name === 'method_agent')).toMatchObject({
    role: 'solution_architect',
  });
  const back = tasks.find(({ task_id }) => task_id.startsWith('back_scripts_'));
  const proof = tasks.find(({ proof_of_concept }) => proof_of_concept !== null);
  expect(back?.depends_on).toContain(proof?.task_id);
  expect(back?.instructions).toContain('copy_data=false');
  await expectPromisesKept(stage, run.workflowId);
});

it('a design for a repository has results below its own agents/, and asks no agent without a task', async () => {
  const { design, played, run } = await playUntilApproval('shop-basket');
  expect(await run.result()).toMatchObject({
    status: 'approved',
    findings: [],
    plan: { tasks: 4, proofs_of_concept: 1 },
    usage: { calls: design.replies.length },
  });
  expect(played.left()).toEqual([]);
  const { out } = await runCommand(stage, ['plan', 'export', run.workflowId]);
  const { tasks = [], agents } = readPlanFile(out).plan ?? {};
  expect(tasks.flatMap(({ outputs }) => outputs.map(({ path }) => path))).toContain(
    'agents/till.md',
  );
  expect(agents?.map(({ role }) => role)).toContain('solution_architect');
});

it('every place that was misread names a stage, and every stage of a design was played', () => {
  const { misread, replies } = readPlayedDesign('postgres-move');
  const later = readPlayedDesign('shop-basket').misread;
  for (const { stage: name } of [...misread, ...later]) expect(stageNames).toContain(name);
  expect(new Set(replies.map((one) => one.stage))).toEqual(new Set(stagesUntilApproval));
});
