import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorReply, Reply } from '../../../rehearsal/script.ts';
import { playTeam, statusesOf } from '../../support/play-team.ts';
import type { PlayedTeam } from '../../support/play-team.ts';
import {
  does,
  gives,
  leads,
  taskCalls,
  taskCriterion,
  teamInput,
} from '../../support/scripted-team.ts';
import type { HeardResult } from '../../support/scripted-team.ts';
import { atOnce, completed, newestText, unmet } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';
import { teamOf } from '../../support/executors.ts';

const { stage } = useStage();

const well = completed(taskCriterion);
const done = { output: well };
const three = ['researcher', 'analyst', 'writer'];

/** A refusal of the provider, which no repetition cures. */
const refusal = (message: string): ErrorReply => ({ status: 400, message });

/** A reply that is no message: begun anew, it may be one. */
const noMessage: Reply = { raw: '<html>busy</html>' };

const isError = ({ is_error }: HeardResult): boolean => is_error;

describe('one of three fails', () => {
  let played: PlayedTeam;

  beforeAll(async () => {
    played = await playTeam(
      stage,
      [
        ...leads([three.map((id) => gives(id)), done]),
        does({ agent: 'researcher' }, refusal('this model reads no tables')),
      ],
      teamInput(three, { allow_parallel: true }),
    );
  });

  it('case 2.3: the leader hears why, as an error', () => {
    const [told] = played.heard(2);
    expect(told).toMatchObject({
      is_error: true,
      text: expect.stringContaining('this model reads no tables'),
    });
  });

  it('case 3.2: the others go on, and their results come in their places', () => {
    expect(played.heard(2).map(isError)).toEqual([true, false, false]);
    expect(statusesOf(played.report)).toEqual({ d1: 'failed', d2: 'completed', d3: 'completed' });
    expect(played.result.status).toBe('completed');
  });

  it('fault 31: the result is partial, and the cause is named', () => {
    expect(teamOf(played.result)).toMatchObject({
      partial: true,
      tasks: { completed: 2, failed: 1 },
    });
    expect(played.page).toContain('this model reads no tables');
  });
});

describe('all three fail', () => {
  const causes = three.map((id) => `the provider refuses ${id}`);
  let played: PlayedTeam;

  beforeAll(async () => {
    const gaveUp = unmet('failed', 'Nobody could do it.', taskCriterion);
    played = await playTeam(
      stage,
      [
        ...leads([three.map((id) => gives(id)), { output: gaveUp }]),
        ...three.map((agent, at) => does({ agent }, refusal(causes[at] ?? ''))),
      ],
      teamInput(three, { allow_parallel: true }),
    );
  });

  it('case 3.3: every error comes to the leader, who decides', () => {
    expect(played.heard(2).map(isError)).toEqual([true, true, true]);
    for (const [at, cause] of causes.entries()) {
      expect(played.heard(2)[at]?.text).toContain(cause);
    }
    expect(played.result.status).toBe('failed');
    expect(played.output).toContain('Nobody could do it.');
  });

  it('fault 31: every cause is listed', () => {
    expect(teamOf(played.result)).toMatchObject({ partial: true, tasks: { failed: 3 } });
    for (const [at, cause] of causes.entries()) {
      expect(played.report.tasks[at]?.reason).toContain(cause);
      expect(played.page).toContain(cause);
    }
  });
});

it('case 2.4: a member that says nothing is told to the leader as that, and one that returns nothing at all has failed', async () => {
  const { report, heard } = await playTeam(
    stage,
    [
      ...leads([[gives('researcher'), gives('analyst')], done]),
      does({ agent: 'researcher' }, { json: { ...well, compact_md: ' ', detailed_md: '\n' } }),
      does({ agent: 'analyst' }, { text: '' }),
    ],
    teamInput(['researcher', 'analyst'], { allow_parallel: true, max_retries: 0 }),
  );
  expect(statusesOf(report)).toEqual({ d1: 'completed', d2: 'failed' });
  expect(heard(2).map(isError)).toEqual([false, true]);
  expect(heard(2)[0]?.text).toContain('(The member returned nothing.)');
  expect(heard(2)[1]?.text).toMatch(/empty/iu);
});

it('case 2.5: the leader is told of the files that a member wrote, and who gets its result reads them', async () => {
  const written = { ...well, effects_claimed: ['note.md'] };
  const { heard, result, calls } = await playTeam(
    stage,
    [
      ...leads([
        [gives('engineer')],
        [gives('reviewer', 'Look at it.', { inputs: ['d1'] })],
        { tool_use: [{ name: 'load_detail', input: { detail_id: 'task.d1' } }] },
        { output: written },
      ]),
      does({ agent: 'engineer', nth: 1 }, writes('note.md', 'BODY OF THE NOTE')),
      does({}, { json: written }),
    ],
    teamInput(['engineer', 'reviewer']),
  );
  expect(result.status).toBe('completed');
  expect(heard(2)[0]?.text).toContain('<written_files>["note.md"]</written_files>');
  expect(heard(4)[0]?.text).toContain('BODY OF THE NOTE');
  const reviewed = taskCalls({ calls }, { task: 'd2' })[0];
  expect(JSON.stringify(reviewed?.body)).toContain('BODY OF THE NOTE');
});

it('case 2.5: a member uses tools of its own, and its leader may claim what it has changed', async () => {
  const claims = { ...well, effects_claimed: ['note.md'] };
  const { runId, result, report } = await playTeam(
    stage,
    [
      ...leads([[gives('engineer')], { output: claims }]),
      does({ nth: 1 }, writes('note.md')),
      does({}, { json: claims }),
    ],
    teamInput(['engineer']),
  );
  expect(result.status).toBe('completed');
  expect(report.tasks).toMatchObject([{ status: 'completed', turns: 2 }]);
  expect(readFileSync(join(stage.home, runId, 'workspace', 'note.md'), 'utf8')).toBe('note.md');
});

function writes(path: string, content = path): Reply {
  return { tool_use: [{ name: 'write_file', input: { path, content } }] };
}

it('case 3.1: a cap above the number of delegations starts all of them, and no more', async () => {
  const { report, calls, maxInFlight } = await playTeam(
    stage,
    [
      ...leads([[gives('researcher'), gives('analyst')], done]),
      does({}, atOnce(2, { json: well, delayMs: 150 })),
    ],
    teamInput(three, { allow_parallel: true, max_parallel: 5 }),
  );
  expect(statusesOf(report)).toEqual({ d1: 'completed', d2: 'completed' });
  expect([taskCalls({ calls }).length, maxInFlight]).toEqual([2, 2]);
});

describe('a cap on members at work', () => {
  const calls = ['researcher', 'analyst', 'writer', 'reviewer'].map((id) => gives(id));
  const playWith = (max_parallel: number): Promise<PlayedTeam> =>
    playTeam(
      stage,
      [...leads([calls, done]), does({}, atOnce(max_parallel, { json: well, delayMs: 150 }))],
      teamInput([...three, 'reviewer'], { allow_parallel: true, max_parallel }),
    );

  it('fault 30: never more than max_parallel at work', async () => {
    const { result, maxInFlight } = await playWith(2);
    expect(teamOf(result)?.tasks.completed).toBe(4);
    expect(maxInFlight).toBe(2);
  });

  it('case 3.5: where it is 1, tasks come one after the other, and nothing is passed on all the same', async () => {
    const played = await playWith(1);
    expect(teamOf(played.result)?.tasks.completed).toBe(4);
    expect(played.maxInFlight).toBe(1);
    for (const call of taskCalls(played)) expect(newestText(call)).not.toContain(well.compact_md);
  });
});

it('case 8.1: a task is tried again where that may help, never after an effect, and its failure comes when the attempts are spent', async () => {
  const rules = [
    ...leads([[gives('researcher'), gives('analyst'), gives('engineer')], done]),
    ...[1, 2, 3].map((nth) => does({ agent: 'researcher', nth }, { text: 'No JSON.' })),
    does({ agent: 'analyst' }, noMessage),
    does({ agent: 'engineer', nth: 1 }, writes('once.md')),
    does({ agent: 'engineer' }, noMessage),
  ];
  const { result, report, heard } = await playTeam(
    stage,
    rules,
    teamInput(['researcher', 'analyst', 'engineer'], { allow_parallel: true }),
  );
  expect(report.tasks).toMatchObject([
    // Three calls of the attempt that failed, and one.
    { status: 'completed', attempts: 2, turns: 4, usage: { calls: 4 } },
    { status: 'failed', attempts: 2 },
    { status: 'failed', attempts: 1, turns: 2 },
  ]);
  expect(heard(2).map(isError)).toEqual([false, true, true]);
  expect(heard(2)[1]?.text).toContain('after 2 attempts');
  expect(result).toMatchObject({ status: 'completed', executor: { work: { partial: true } } });
});

const able = (id: string, agent_id: string, priority: number) => {
  return { id, agent_id, priority, capabilities: ['facts'] };
};
const ask = (n: number) => gives('facts', `Find fact number ${n}.`);

it('priority decides among members with the same capability, until the first of them fails three times in a row', async () => {
  const { result, report, heard, calls } = await playTeam(
    stage,
    [
      ...leads([[1, 2, 3, 4].map(ask), [gives('deep', 'Find fact number 5.'), ask(6)], done]),
      does({ agent: 'analyst' }, refusal('no facts today')),
    ],
    teamInput([able('fast', 'researcher', 1), able('deep', 'analyst', 5)]),
  );
  expect(report.tasks.map(({ member_id, status }) => `${member_id} ${status}`)).toEqual([
    'deep failed',
    'deep failed',
    'deep failed',
    'deep skipped',
    'fast completed',
  ]);
  expect(taskCalls({ calls }, { agent: 'analyst' })).toHaveLength(3);
  expect(heard(2)[3]?.text).toContain('"deep" failed 3 times in a row');
  expect(heard(3).map(isError)).toEqual([true, false]);
  expect(heard(3)[0]?.text).toContain('Try: "fast"');
  expect(teamOf(result)).toMatchObject({
    partial: true,
    members: [
      { member_id: 'fast', delegations: 1 },
      { member_id: 'deep', delegations: 4 },
    ],
  });
});
