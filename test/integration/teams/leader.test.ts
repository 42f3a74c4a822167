import type { TeamResult } from '../../../contracts/delegation-run.ts';
import type { TeamInput } from '../../../contracts/team.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  does,
  gives,
  heardResults,
  leaderCalls,
  leads,
  taskCalls,
  taskCriterion,
  teamInput,
} from '../../support/scripted-team.ts';
import type { LeaderReply } from '../../support/scripted-team.ts';
import { completed, held } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const done = { output: completed(taskCriterion) };

/** Plays a team of three agents whose leader replies so. */
async function play(
  replies: readonly LeaderReply[],
  over: Partial<TeamInput> = {},
): Promise<TeamResult> {
  stage.rehearsal.reset();
  stage.rehearsal.script(leads(replies));
  const input = teamInput(['researcher', 'analyst', 'writer'], over);
  const run = await stage.start('team', input);
  const result: TeamResult = await run.result();
  await expectPromisesKept(stage, run.workflowId);
  return result;
}

/** What the leader was told before its nth call, from 1. */
const heard = (nth: number) => heardResults(leaderCalls(stage.rehearsal)[nth - 1]);

it('case 1.1: a leader that answers at once is done, and nobody else is called', async () => {
  const result = await play([done]);
  expect(result.status).toBe('completed');
  expect(result.answer).not.toBe('');
  expect([result.usage.calls, taskCalls(stage.rehearsal).length]).toEqual([1, 0]);
});

it('case 1.2: a call of another tool is an error, and the valid calls beside it are carried out', async () => {
  const result = await play([[{ name: 'ask_around', input: {} }, gives('researcher')], done]);
  expect(result.status).toBe('completed');
  expect(heard(2).map(({ is_error }) => is_error)).toEqual([true, false]);
  expect(taskCalls(stage.rehearsal, { agent: 'researcher' })).toHaveLength(1);
});

it('case 1.4: calls of one reply are carried out at the same time where that is allowed', async () => {
  stage.rehearsal.reset();
  const call = held({ json: completed(taskCriterion) });
  stage.rehearsal.script([
    ...leads([[gives('researcher'), gives('analyst'), gives('writer')], done]),
    does({}, call.reply),
  ]);
  const run = await stage.start(
    'team',
    teamInput(['researcher', 'analyst', 'writer'], { allow_parallel: true }),
  );
  await stage.rehearsal.waitForCalls(4);
  call.release();
  const result: TeamResult = await run.result();
  expect(result.team?.tasks.completed).toBe(3);
  await expectPromisesKept(stage, run.workflowId);
});
