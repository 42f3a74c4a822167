import type { LoneOutcome } from '../../../contracts/delegation-run.ts';
import type { TeamInput } from '../../../contracts/team.ts';
import { refusedInput } from '../../support/input-refusal.ts';
import { playTeam, statusesOf } from '../../support/play-team.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { does, gives, leads, taskCriterion, teamInput } from '../../support/scripted-team.ts';
import { completed } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';
import { teamOf } from '../../support/executors.ts';

const { stage } = useStage();

const message = 'Find out what it is made of.';
const done = { output: completed(taskCriterion) };

/** The faults of what somebody typed by hand, when it was refused before anything was bought. */
async function faultsOf(input: unknown): Promise<readonly string[]> {
  const run = await stage.start('team', input);
  const faults = await refusedInput(run);
  expect(stage.rehearsal.counts().calls).toBe(0);
  await expectPromisesKept(stage, run.workflowId);
  return faults;
}

const each = (...faults: readonly RegExp[]) => faults.map((fault) => expect.stringMatching(fault));

/** A team whose members are these teams. */
const team = (team_id: string, ...below: readonly string[]) => ({
  team_id,
  members: below.map((id) => ({ id: `m-${id}`, team_id: id })),
});

it("case 5.1: a member_timeout over the team's is lowered to it, and the notes say so", async () => {
  const { result, report, page } = await playTeam(
    stage,
    leads([done]),
    teamInput(['researcher'], { timeout: 60, member_timeout: 120 }),
  );
  expect(report.setup).toMatchObject({ timeout: 60, member_timeout: 60 });
  expect(teamOf(result)?.notes).toEqual([
    'member_timeout was lowered from 120 s to 60 s: the whole team has no more time.',
  ]);
  expect(page).toContain('member_timeout was lowered from 120 s to 60 s');
});

describe('fault 28: a team that can not work', () => {
  it('case 5.2: limits that nobody could work with are refused, all at once', async () => {
    expect(
      await faultsOf({
        message,
        members: ['researcher'],
        max_delegations: 0,
        max_parallel: 0,
        timeout: 0,
        member_timeout: -1,
        max_retries: 0.5,
      }),
    ).toEqual(
      each(
        /^max_parallel: expected a whole number from 1 .*received 0\. Try: /,
        /^max_delegations: expected a whole number from 1 .*received 0\. Try: /,
        /^timeout: expected a number from 1 .*received 0\. Try: /,
        /^member_timeout: expected a number from 1 .*received -1\. Try: /,
        /^max_retries: expected a whole number from 0 .*received 0\.5\. Try: /,
      ),
    );
  });

  it.each([
    ['left out', { message }],
    ['an empty list', { message, members: [] }],
  ])('case 5.3: a team without members is refused: %s', async (_how, input) => {
    expect(await faultsOf(input)).toEqual(
      each(/^members: the team has no members.*Try: at least one, as \{"id":"/),
    );
  });

  it('case 5.4: whoever can be no member is named, with every other fault of the input, each with who there is', async () => {
    expect(
      await faultsOf({
        message: ' ',
        mood: 'good',
        members: [
          'researcher',
          'researcher',
          'nobody',
          'planner',
          7,
          { id: 'ann', agent_id: null },
          { id: 'bob', agent_id: 'writer', team_id: 'desk' },
          { id: 'eve', triad: { type: 'dialectic', reason: 'It is hard.', members: [] } },
        ],
        leader: 'boss',
        max_delegations: 0,
        input_middlewares: ['sieve'],
      }),
    ).toEqual(
      each(
        /^message: expected a message\. Try: \{/,
        /^members\[4\]: expected a member\. Try: "writer"/,
        /^members\[5\]\.agent_id: .*expected string, received null/,
        /^members\[7\]\.triad\.members: too little: at least 3 entries expected/,
        /^input: fields that do not belong here: "mood"\. Did you mean "model"\? Fields are: .*"members"/,
        /^members\[2\]: there is no agent "nobody"\. Try: one of "analyst".*or say who it is/,
        /^members\[3\]: the planner plans and decides/,
        /^members\[6\]: a member is an agent, a triad or a team, and this one has agent_id and team_id\. Try: /,
        /^members\[6\]\.team_id: there is no team "desk"\. Try: an agent_id; there are no other teams/,
        /^members\[1\]: "researcher" is the id of members\[0\] already\. Try: /,
        /^max_delegations: /,
        /^leader: there is no agent "boss"\. Try: one of /,
        /^input_middlewares\[0\]: the worker has no middleware "sieve" for the input of a team\. Try: .*"redact-secrets"/,
      ),
    );
  });

  it('case 5.4: a team whose members are all disabled is refused', async () => {
    const members = ['researcher', 'writer'].map((id) => ({ id, enabled: false }));
    expect(await faultsOf({ message, members })).toEqual(
      each(/^members: every member is disabled.*Try: /),
    );
  });

  it('planwave team names every fault on a line of its own, with exit code 2', async () => {
    const { code, out, err } = await runCommand(stage, [
      'team',
      message,
      '--members',
      'researcher,researcher,nobody',
      '--leader',
      'boss',
    ]);
    expect(code).toBe(2);
    expect(out).not.toContain('completed');
    const lines = err.split('\n');
    for (const line of [
      /^\W*members\[1\]: "researcher" is the id of members\[0\] already/,
      /^\W*members\[2\]: there is no agent "nobody"\. Try: one of "analyst"/,
      /^\W*leader: there is no agent "boss"\. Try: one of "analyst"/,
    ]) {
      expect(lines).toContainEqual(expect.stringMatching(line));
    }
    const nobody = await runCommand(stage, ['team', message]);
    expect(nobody.code).toBe(2);
    expect(nobody.err).toMatch(/^The team has no members\. Try: .*--members/u);
    const none = await runCommand(stage, ['team', message, '--max-delegations', '0']);
    expect(none.code).toBe(2);
    expect(none.err).toContain("'--max-delegations <count>' argument '0' is invalid");
    expect(stage.rehearsal.counts().calls).toBe(0);
  });
});

it('fault 29: teams that contain each other are refused, each ring shown, however it is closed', async () => {
  expect(
    await faultsOf({
      message,
      members: [{ id: 'first', team_id: 'a' }],
      teams: [team('a', 'b'), team('b', 'a'), team('self', 'self')],
    }),
  ).toEqual(
    each(
      /^teams\[1\]\.members\[0\]\.team_id: these teams contain each other: a→b→a\. Try: /,
      /^teams\[2\]\.members\[0\]\.team_id: these teams contain each other: self→self\. Try: /,
    ),
  );
});

/** Two calls that need each other, one that needs neither, and one that needs the first; then one of them made right. */
const playRing = (over: Partial<TeamInput>) =>
  playTeam(
    stage,
    [
      ...leads([
        [
          gives('researcher', 'Find the left half.', { name: 'left', inputs: ['right'] }),
          gives('analyst', 'Find the right half.', { name: 'right', inputs: ['left'] }),
          gives('writer', 'Write what is known.', { name: 'third' }),
          gives('writer', 'Write about the left half.', { name: 'after', inputs: ['left'] }),
        ],
        [gives('analyst', 'Find the right half.', { name: 'right', inputs: ['third'] })],
        done,
      ]),
      does({}, { json: completed(taskCriterion) }),
    ],
    teamInput(['researcher', 'analyst', 'writer'], over),
  );

describe('calls of one reply that need each other', () => {
  it.each([true, false])(
    'fault 29: are refused with the cycle, the others are done, and the leader may mend it (allow_parallel %j)',
    async (allow_parallel) => {
      const { result, report, heard } = await playRing({ allow_parallel });
      const told = heard(2);
      expect(told.map(({ is_error }) => is_error)).toEqual([true, true, false, true]);
      for (const at of [0, 1]) {
        expect(told[at]?.text).toMatch(
          /need each other's results: (left→right→left|right→left→right)/u,
        );
      }
      expect(told[3]?.text).toContain('"task.left"');
      expect(statusesOf(report)).toEqual({ third: 'completed', right: 'completed' });
      expect(heard(3).map(({ is_error }) => is_error)).toEqual([false]);
      expect(report.tasks[1]?.inputs).toEqual(['task.third']);
      expect(report.refused).toHaveLength(3);
      expect(result.status).toBe('completed');
    },
  );
});

it('fault 29: in parallel, calls of one reply are done in the order of what they need, whatever the order of the calls', async () => {
  const found = { ...completed(taskCriterion), detailed_md: '# It\n\nIt is copper.' };
  const { report, calls, maxInFlight } = await playTeam(
    stage,
    [
      ...leads([
        [
          gives('writer', 'Write it up.', { name: 'text', inputs: ['facts'] }),
          gives('researcher', 'Find the facts.', { name: 'facts' }),
        ],
        done,
      ]),
      does({ task: 'facts' }, { json: found, delayMs: 50 }),
      does({}, { json: completed(taskCriterion) }),
    ],
    teamInput(['researcher', 'writer'], { allow_parallel: true }),
  );
  expect(statusesOf(report)).toEqual({ text: 'completed', facts: 'completed' });
  expect(report.tasks.map(({ delegation_id, inputs }) => [delegation_id, inputs])).toEqual([
    ['task.text', ['task.facts']],
    ['task.facts', []],
  ]);
  expect(maxInFlight).toBe(1);
  const writers = calls().filter(({ task }) => task?.agent_id === 'writer');
  expect(writers.map(({ body }) => JSON.stringify(body).includes('It is copper.'))).toEqual([true]);
});

it('planwave team carries a team out from the command line, with exit code 0', async () => {
  stage.rehearsal.script(leads([done]));
  const { code, out } = await runCommand(stage, [
    'team',
    message,
    '--members',
    'researcher,writer',
    '--id',
    'typed-team',
    '--json',
  ]);
  expect(code).toBe(0);
  const told: Pick<LoneOutcome, 'status' | 'answer'> = JSON.parse(out);
  expect(told).toMatchObject({ status: 'completed' });
  expect(told.answer).toContain(taskCriterion);
});
