import {
  emptyCursor,
  readCursor,
  writeCursor,
  forgetOld,
  tellTeam,
  tellEnd,
} from '../../../client/tell-team.ts';
import type { TeamCursor } from '../../../client/tell-team.ts';
import type { TeamLook } from '../../../client/read-work.ts';
import type { TeamEvent } from '../../../client/team-event.ts';
import { question } from './support/samples.ts';
import { endOfTeam, look, task, team, writing } from './support/team-samples.ts';

/** Events in a few words each. */
function word(event: TeamEvent): string {
  switch (event.type) {
    case 'leader':
      return `leader of ${event.delegation_id} ${event.state} ${event.turn} +${event.given} -${event.refused.length}`;
    case 'delegation':
      return [event.delegation_id, event.state, event.phase, event.reason]
        .filter(Boolean)
        .join(' ');
    case 'text':
      return `${event.from} ${event.delegation_id} @${event.position}${event.gap ? ' gap' : ''}: ${event.text}`;
    case 'question':
      return event.command;
    case 'answer':
    case 'notice':
    case 'error':
    case 'end':
      return event.type;
  }
}

/** Returns the events of consecutive looks, each from where the previous one ended. */
function tellRow(...looks: readonly TeamLook[]): string[][] {
  let cursor: TeamCursor = emptyCursor;
  return looks.map((one) => {
    const told = tellTeam(cursor, one);
    // As another process would: all that is kept is a text.
    cursor = readCursor(writeCursor(forgetOld(told.at(-1)?.cursor ?? cursor, one)));
    return told.map(({ event }) => word(event));
  });
}

it('tells what the leader does, the states of its tasks, and nothing twice', () => {
  const thinking = look(team({}));
  const atWork = look(team({ state: 'waiting_for_members' }, [task('d1'), task('d2')]));
  const answered = look(
    team({ state: 'thinking', turns: 2 }, [
      task('d1', { state: 'completed' }),
      task('d2', { state: 'failed', reason: 'No oven.' }),
    ]),
  );
  expect(tellRow(thinking, thinking, atWork, atWork, answered, answered)).toEqual([
    ['leader of task thinking 1 +0 -0'],
    [],
    ['leader of task waiting_for_members 1 +2 -0', 'task.d1 running', 'task.d2 running'],
    [],
    ['task.d1 completed', 'task.d2 failed No oven.', 'leader of task thinking 2 +0 -0'],
    [],
  ]);
});

it('a task that begins and ends between two looks is told after its leader gave it out', () => {
  expect(tellRow(look(team({ turns: 2 }, [task('d1', { state: 'timed_out' })])))).toEqual([
    ['leader of task thinking 2 +1 -0', 'task.d1 timed_out'],
  ]);
});

it('case 7.2: the error of a member comes with its state, and what others write goes on', () => {
  const both = team({ state: 'waiting_for_members' }, [task('d1'), task('d2')]);
  const one = team({ state: 'waiting_for_members' }, [
    task('d1', { state: 'failed', reason: 'ModelUnavailable: the model is away.' }),
    task('d2'),
  ]);
  const [, second] = tellRow(
    look(both, { calls: [writing('task.d2', 'c', 'Once')] }),
    look(one, { calls: [writing('task.d2', 'c', 'Once upon')] }),
  );
  expect(second).toEqual([
    'task.d1 failed ModelUnavailable: the model is away.',
    'member task.d2 @4:  upon',
  ]);
});

it('only what is new of a text is told, with its place, and a hole is said', () => {
  const view = team({}, [task('d1')]);
  const at = (text: string, tailMax?: number) =>
    look(view, { calls: [writing('task.d1', 'c', text, tailMax)] });
  const told = tellRow(at('abc'), at('abc'), at('abcdef', 4), at('abcdefghijkl', 4), at('abc'));
  expect(told.slice(1)).toEqual([
    [],
    ['member task.d1 @3: def'],
    ['member task.d1 @8 gap: ijkl'],
    [],
  ]);
});

it('each call has a text of its own: the leader, members of a triad, another attempt', () => {
  const view = team({}, [task('d1')]);
  const calls = [
    writing('task', 'run/1/1', 'I lead'),
    writing('task.d1', 'run/2/1', 'one'),
    writing('task.d1', 'run/3/1', 'two'),
  ];
  const [first = [], second] = tellRow(
    look(view, { calls }),
    look(view, {
      calls: [writing('task.d1', 'run/2/2', 'on'), writing('planner', 'p', 'no task')],
    }),
  );
  expect(first.slice(2)).toEqual([
    'leader task @0: I lead',
    'member task.d1 @0: one',
    'member task.d1 @0: two',
  ]);
  expect(second).toEqual(['member task.d1 @0: on']);
});

const inner = (state: 'running' | 'completed') =>
  team({ state: state === 'running' ? 'waiting_for_members' : 'done' }, [task('d1.d1', { state })]);

const outer = (state: 'running' | 'completed') =>
  look(
    team({}, [
      task('d1', { state, executor: { kind: 'team', team_id: null, view: inner(state) } }),
    ]),
    {
      calls: [writing('task.d1', 'c', 'I lead, too')].filter(() => state === 'running'),
    },
  );

it('a member that is a team tells of its own leader and tasks', () => {
  expect(tellRow(outer('running'), outer('completed'))).toEqual([
    [
      'leader of task thinking 1 +1 -0',
      'task.d1 running',
      'leader of task.d1 waiting_for_members 1 +1 -0',
      'task.d1.d1 running',
      'leader task.d1 @0: I lead, too',
    ],
    ['task.d1.d1 completed', 'task.d1 completed', 'leader of task.d1 done 1 +0 -0'],
  ]);
});

it('calls that were refused are told with why, the newest that are known', () => {
  const refused = [
    { member_id: 'ghost', reason: 'There is no such member.' },
    { member_id: 'idle', reason: 'It is disabled.' },
  ];
  const [, second] = tellRow(
    look(team({}, [], { refused: refused.slice(0, 1), refused_total: 1 })),
    look(team({}, [], { refused, refused_total: 2 })),
  );
  expect(second).toEqual(['leader of task thinking 1 +0 -1']);
});

it('a question is told once, with the command that answers it', () => {
  const view = team({ state: 'waiting_for_user' });
  const asking = look(view, { questions: [question()] });
  const [first = [], second, third] = tellRow(asking, asking, look(view, { questions: null }));
  expect(first.at(-1)).toMatch(/^npm run planwave -- answer run-1 q1 /);
  expect([second, third]).toEqual([[], []]);
});

it('what is over is forgotten, so that a cursor stays small', () => {
  const asking = look(team({}), {
    questions: [question()],
    calls: [writing('task', 'c', 'text')],
  });
  const cursor = tellTeam(emptyCursor, asking).at(-1)?.cursor ?? emptyCursor;
  expect(cursor).toMatchObject({ texts: { c: 4 }, questions: ['q1'] });
  expect(forgetOld(cursor, look(team({})))).toMatchObject({ texts: {}, questions: [] });
});

it('a cursor that is none is refused', () => {
  for (const text of ['', '{}', '{"version":2}', 'null']) {
    expect(() => readCursor(text)).toThrow(/The cursor does not come from .* Try: /);
  }
});

it('case 7.3: a leader that fails ends the stream with its error, and with what there is', () => {
  const reason = 'The model refused.';
  const failed = { status: 'failed', reason, answer: '' } as const;
  expect(tellEnd(endOfTeam(failed))).toMatchObject([
    { type: 'error', code: 'team_failed', message: reason },
    { type: 'end', status: 'failed', reason, usage: { calls: 3 } },
  ]);
  expect(tellEnd(endOfTeam({ ...failed, answer: 'Half.' })).map(({ type }) => type)).toEqual([
    'error',
    'answer',
    'end',
  ]);
  const refused = { ended: 'failed', type: 'InvalidInput', reason: 'No members.' } as const;
  expect(tellEnd(refused)).toMatchObject([
    { type: 'error', message: 'No members.' },
    { type: 'end', status: 'failed', usage: null },
  ]);
  const stopped = { ended: 'cancelled', type: null, reason: '' } as const;
  expect(tellEnd(stopped).map(({ type }) => type)).toEqual(['end']);
});
