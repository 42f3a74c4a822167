import type { TeamInput } from '../../../contracts/team.ts';
import { delegationTool } from '../../../rehearsal/rules/prompt.ts';
import type { ScriptedToolCall } from '../../../rehearsal/script.ts';
import { playTeam, statusesOf } from '../../support/play-team.ts';
import type { PlayedTeam } from '../../support/play-team.ts';
import {
  does,
  gives,
  leaderCalls,
  leads,
  taskCalls,
  taskCriterion,
  teamInput,
} from '../../support/scripted-team.ts';
import type { HeardResult, LeaderReply } from '../../support/scripted-team.ts';
import { completed, held, newestText } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';
import { teamOf } from '../../support/executors.ts';

const { stage } = useStage();

const done = { output: completed(taskCriterion) };

/** A call whose arguments do not fit the schema. */
const delegate = (input: unknown): ScriptedToolCall => ({ name: delegationTool, input });

/** Plays a team of three agents whose leader replies so. */
function play(replies: readonly LeaderReply[], over: Partial<TeamInput> = {}): Promise<PlayedTeam> {
  return playTeam(stage, leads(replies), teamInput(['researcher', 'analyst', 'writer'], over));
}

const isError = ({ is_error }: HeardResult): boolean => is_error;

it('case 1.1: a leader that answers at once is done, and nobody else is called', async () => {
  const { result } = await play([done]);
  expect(result.status).toBe('completed');
  expect(result.answer).toContain(taskCriterion);
  expect(teamOf(result)).toMatchObject({ partial: false, tasks: { completed: 0 } });
  expect([result.usage.calls, stage.rehearsal.calls().length]).toEqual([1, 1]);
});

describe('one reply with every call that can not be carried out, and two that can', () => {
  const bad = {
    'another tool': { name: 'ask_around', input: {} },
    'no arguments': delegate({}),
    'no member': delegate({ task: 'Find out.' }),
    prose: delegate('Let the researcher find out.'),
    'wrong types': delegate({ member_id: 7, task: ['Find out.'] }),
    'nobody there': gives('accountant'),
    disabled: gives('critic'),
  } as const satisfies Readonly<Record<string, ScriptedToolCall>>;
  const asText = delegate(
    JSON.stringify({ member_id: 'researcher', task: 'Find out.', name: 'text' }),
  );
  const good = gives('analyst', 'Weigh what there is.', { name: 'good' });
  let played: PlayedTeam;
  let members = 0;
  const toldOf = (which: keyof typeof bad): HeardResult => {
    const told = played.heard(2)[Object.keys(bad).indexOf(which)];
    if (told === undefined) throw new Error(`Nothing was said of ${which}.`);
    return told;
  };

  beforeAll(async () => {
    const critic = { id: 'critic', agent_id: 'reviewer', capabilities: ['judge'], enabled: false };
    const analyst = { id: 'analyst', capabilities: ['judge'] };
    played = await playTeam(
      stage,
      leads([[...Object.values(bad), asText, good], done]),
      teamInput(['researcher', critic, analyst]),
    );
    members = taskCalls(stage.rehearsal).length;
  });

  it('case 1.2: a call of another tool is an error, and the valid ones beside it are carried out', () => {
    expect(toldOf('another tool')).toMatchObject({
      is_error: true,
      text: expect.stringContaining('ask_around'),
    });
    const refused = Object.keys(bad).map(() => true);
    expect(played.heard(2).map(isError)).toEqual([...refused, false, false]);
    expect(played.result.status).toBe('completed');
    expect(statusesOf(played.report)).toMatchObject({ good: 'completed' });
  });

  it('case 1.3: each call with bad arguments says what was expected, and starts nothing', () => {
    const { text } = toldOf('no arguments');
    expect(text).toContain('member_id');
    expect(text).toContain('task');
    expect(Object.keys(statusesOf(played.report))).toEqual(['text', 'good']);
  });

  it('case 2.1: a disabled member is named as disabled, with another one who can do the same', () => {
    const { text } = toldOf('disabled');
    expect(text).toContain('"critic" is disabled');
    expect(text).toContain('Try: "analyst"');
  });

  it('case 2.2: a member that is not there is refused with the ids of those who are', () => {
    expect(toldOf('nobody there').text).toContain('no member "accountant"');
    expect(toldOf('nobody there').text).toContain('"researcher", "analyst"');
  });

  it('case 6.1: a text in place of arguments is read where it holds them, and refused where it does not', () => {
    expect(toldOf('prose')).toMatchObject({
      is_error: true,
      text: expect.stringMatching(/object/i),
    });
    expect(statusesOf(played.report)).toMatchObject({ text: 'completed' });
  });

  it('case 6.2: the argument that is missing is named, and no other', () => {
    const { text } = toldOf('no member');
    expect(text).toContain('member_id');
    expect(text).not.toMatch(/^task/mu);
  });

  it('case 6.3: arguments of the wrong type are named with the type that was expected', () => {
    const { text } = toldOf('wrong types');
    expect(text).toMatch(/member_id.*string/su);
    expect(text).toMatch(/task.*string/su);
  });

  it('part of fault 28: whoever can not take a task is told with the valid ids, and cost no call', () => {
    const refused = played.report.refused.map(({ member_id }) => member_id);
    expect(refused).toEqual(['accountant', 'critic']);
    for (const which of ['nobody there', 'disabled'] as const) {
      expect(toldOf(which).text).toContain('analyst');
    }
    // Two of the leader; nothing but the two tasks was begun.
    expect(played.result.usage.calls - members).toBe(2);
    expect(played.report.tasks).toHaveLength(2);
    expect(played.page).toContain('accountant');
  });
});

it('case 1.3: a leader that was refused tries again, and learns from what it was told', async () => {
  const { result, heard } = await play([
    [delegate({})],
    [gives('accountant')],
    [gives('analyst')],
    done,
  ]);
  expect([2, 3, 4].map((nth) => heard(nth).map(isError))).toEqual([[true], [true], [false]]);
  expect(result).toMatchObject({ status: 'completed', usage: { calls: 5 } });
});

it('case 1.4: calls of one reply are carried out at the same time where that is allowed, and their results keep the order of the calls', async () => {
  const first = held({ json: completed(taskCriterion) });
  const rules = [
    ...leads([[gives('researcher'), gives('analyst'), gives('writer')], done]),
    does({ task: 'd1' }, first.reply),
  ];
  const playing = playTeam(
    stage,
    rules,
    teamInput(['researcher', 'analyst', 'writer'], { allow_parallel: true }),
  );
  // The later two are done before the first.
  await stage.rehearsal.waitForCalls(3, 'ended');
  first.release();
  const { report, heard } = await playing;
  expect(statusesOf(report)).toEqual({ d1: 'completed', d2: 'completed', d3: 'completed' });
  expect(heard(2).map(({ text }) => /Task "(\w+)" of "(\w+)"/u.exec(text)?.slice(1))).toEqual([
    ['d1', 'researcher'],
    ['d2', 'analyst'],
    ['d3', 'writer'],
  ]);
});

it('case 1.4: they are carried out one after the other where it is not, each with what those before it brought', async () => {
  const found = { ...completed(taskCriterion), detailed_md: '# It\n\nThe answer is forty-two.' };
  const { result } = await playTeam(
    stage,
    [
      ...leads([[gives('researcher'), gives('writer')], done]),
      does({ agent: 'researcher' }, { json: found, delayMs: 100 }),
    ],
    teamInput(['researcher', 'writer']),
  );
  expect(result.status).toBe('completed');
  expect(stage.rehearsal.counts().maxInFlight).toBe(1);
  const [second] = taskCalls(stage.rehearsal, { agent: 'writer' });
  expect(newestText(second)).toContain(found.detailed_md);
});

/** An output that is nothing but the result of that name. */
const passes = (name: string) => ({
  output: { ...completed(taskCriterion), detailed_md: '', detailed_from: [name] },
});

it('finding P7: a leader hands on a result by its name, and everybody reads it in full', async () => {
  const policy = { ...completed(taskCriterion), detailed_md: '# Policy\n\nCall who is on duty.' };
  const { result, heard } = await playTeam(
    stage,
    [
      ...leads([
        [gives('writer', 'Write it.', { name: 'policy' })],
        passes('plan'),
        passes('policy'),
      ]),
      does({ agent: 'writer' }, { json: policy }),
    ],
    teamInput(['writer']),
  );
  expect(heard(2)).toHaveLength(1);
  const [, , again] = leaderCalls(stage.rehearsal);
  expect(newestText(again)).toContain('nothing with a result is called');
  expect(newestText(again)).toMatch(/Try: one of .{0,6}policy/u);
  expect(result).toMatchObject({ status: 'completed', answer: policy.detailed_md });
});

describe('a leader that never finishes', () => {
  let played: PlayedTeam;

  beforeAll(async () => {
    let n = 0;
    const more = () => {
      n += 1;
      return { tool_use: [gives('researcher', `Find out number ${n}.`)] };
    };
    const team = teamInput(['researcher'], { max_delegations: 2 });
    played = await playTeam(stage, [{ match: { leads: true }, reply: more }], team);
  });

  it('case 10.1: gets no more than max_delegations, and is told so', () => {
    expect(statusesOf(played.report)).toEqual({ d1: 'completed', d2: 'completed' });
    expect(taskCalls(played)).toHaveLength(2);
    expect(played.heard(4)).toMatchObject([
      { is_error: true, text: expect.stringContaining('limit of 2 delegations') },
    ]);
  });

  it('fault 30: the limit of delegations holds, and what came is handed on, named as partial', () => {
    expect(teamOf(played.result)).toMatchObject({
      partial: true,
      unanswered: true,
      tasks: { completed: 2 },
    });
    for (const name of ['task.d1', 'task.d2']) {
      for (const text of [played.output, played.page]) expect(text).toContain(name);
    }
  });

  it('fault 37: is stopped, and the limit is named', () => {
    const { result, output, page } = played;
    expect(result.status).toBe('failed');
    for (const text of [result.reason, output, page]) {
      expect(text).toContain('limit of 2 delegations (max_delegations)');
    }
    // Two that were carried out, and three attempts at another.
    expect([leaderCalls(played).length, result.usage.calls]).toEqual([5, 7]);
  });
});

describe('a leader that gives the same task to the same member again and again', () => {
  const same = [gives('researcher', 'Find out how much.')];
  const spelled = [gives('researcher', '  find out  HOW much!')];
  let played: PlayedTeam;

  beforeAll(async () => {
    played = await play([same, spelled, same, same]);
  });

  it('case 10.2: has it done once, and is told which one it was', () => {
    expect(statusesOf(played.report)).toEqual({ d1: 'completed' });
    expect(taskCalls(played)).toHaveLength(1);
    for (const nth of [3, 4]) {
      expect(played.heard(nth)).toMatchObject([
        { is_error: true, text: expect.stringContaining('as "d1", which is completed') },
      ]);
    }
  });

  it('fault 37: is stopped, and what it repeated is named', () => {
    const { result, report } = played;
    expect(result.status).toBe('failed');
    expect(result.reason).toContain('the same task was given to the same member as "d1"');
    expect(report.refused).toHaveLength(3);
  });
});
