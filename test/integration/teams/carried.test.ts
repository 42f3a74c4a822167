import { createPlanwaveClient } from '../../../client/planwave-client.ts';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { eventTypes } from '../../support/histories.ts';
import { readTeam } from '../../support/play-team.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  does,
  gives,
  heardResults,
  leaderCalls,
  leads,
  members,
  taskCalls,
  taskCriterion,
  teamWork,
} from '../../support/scripted-team.ts';
import {
  blocked,
  completed,
  newestText,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

/** Delegations continue as new after a few turns. */
const { stage } = useStage({
  serverArguments: ['--dynamic-config-value=limit.historyCount.suggestContinueAsNew=30'],
});

const team = 'guide';
const well = { ...completed(taskCriterion), detailed_md: '# It\n\nThe answer is forty-two.' };
const writesNote = { tool_use: [{ name: 'write_file', input: { path: 'note.md', content: 'A' } }] };
const loadsFacts = { tool_use: [{ name: 'load_detail', input: { detail_id: 'facts' } }] };
const fails = (n: number) => gives('analyst', `Weigh it, number ${n}.`);
const asks = (text: string) => ({ json: blocked([question(text)], taskCriterion) });

it('a team that continues as new at turns of its leader keeps tasks, names, breakers, questions, effects and costs', async () => {
  const again = gives('researcher', 'Check the facts.', { inputs: ['facts'] });
  stage.rehearsal.script([
    works('facts', { json: completed('facts-done') }),
    ...leads(
      [
        [gives('researcher', 'Check the facts.', { name: 'checked', inputs: ['facts'] })],
        [fails(1), fails(2), fails(3)],
        [gives('engineer', 'Write a note.')],
        [again, fails(4), gives('writer', 'Write it down.', { inputs: ['checked'] })],
        [gives('writer', 'One more.')],
        { output: { ...completed('guide-done'), effects_claimed: ['note.md'] } },
      ],
      team,
    ),
    does({ team, task: 'checked', nth: 1 }, loadsFacts),
    does({ team, task: 'checked', nth: 2 }, asks('Which region?')),
    does({ team, agent: 'analyst' }, { status: 400, message: 'not today' }),
    does({ team, agent: 'engineer', nth: 1 }, writesNote),
    does({ team, agent: 'writer', nth: 1 }, asks('How long?')),
    does({ team }, { json: well }),
  ]);
  const run = await stage.start('plannerWave', {
    goal: 'Write a guide',
    budget: { calls: 60, delegation: { calls: 40 } },
    delegations: [
      work('facts'),
      teamWork(
        team,
        { members: members('researcher', 'analyst', 'engineer', 'writer'), max_delegations: 6 },
        { required_inputs: ['facts'], depends_on: ['facts'] },
      ),
    ],
  });
  const { connection } = stage.client;
  const client = createPlanwaveClient({ connection, address: '', namespace: 'default' });
  for (const [id, answer] of [
    ['q1', 'eu-west'],
    ['q2', 'one page'],
  ]) {
    expect(await openQuestion(stage, run, id)).toMatchObject({ delegation_id: team });
    // The worker of a slow machine may leave something untold.
    const used = await eventually('what was used until now', async () => {
      const { usage: now, untold } = await client.usageNow(await stage.status(run));
      return untold.length === 0 && now;
    });
    expect(used.calls).toBe(
      stage.rehearsal.calls().filter(({ replyStatus }) => replyStatus === 200).length,
    );
    await submit(run, { question_id: id, answer });
  }
  const { outcomes, usage }: WaveResult = await run.result();
  const histories = await expectPromisesKept(stage, run.workflowId);
  const continued = histories
    .filter(({ workflowId }) => workflowId.endsWith(`/${team}`))
    .map((one) => eventTypes(one).at(-1))
    .filter((type) => type === 'EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW');
  expect(continued.length).toBeGreaterThan(1);

  const [, outcome] = outcomes;
  if (outcome === undefined) throw new Error('There is no outcome.');
  expect(outcome).toMatchObject({ status: 'completed', loaded_details: ['facts'] });
  const { report, page } = await readTeam(stage, run.workflowId, outcome);
  const tasks = report.tasks.map(({ delegation_id, status }) => `${delegation_id} ${status}`);
  expect(tasks).toEqual([
    'guide.checked completed',
    'guide.d2 failed',
    'guide.d3 failed',
    'guide.d4 failed',
    'guide.d5 completed',
    'guide.d8 completed',
  ]);
  const calls = leaderCalls(stage.rehearsal, team);
  const [repeated, weighed, written] = heardResults(calls[4]);
  expect(repeated?.text).toContain('as "checked", which is completed');
  expect(weighed?.text).toContain('"analyst" failed 3 times in a row');
  expect(written?.is_error).toBe(false);
  expect(heardResults(calls[5])[0]?.text).toContain('limit of 6 delegations');
  expect(newestText(taskCalls(stage.rehearsal, { team, agent: 'writer' })[0])).toContain(
    well.detailed_md,
  );
  for (const task of tasks) expect(page).toContain(task.split(' ', 1)[0]);
  // The planner reviews both questions, and decides.
  expect(usage.calls).toBe(outcomes.reduce((sum, one) => sum + one.usage.calls, 0) + 3);
});
