import { engineLimits } from '../../../core/limits.ts';
import { countBytes } from '../../../core/text/markdown.ts';
import { renderDelegationDetails, teamBlocks } from '../../../core/render/render-work-details.ts';
import { taskView, teamView } from '../../support/team-fixtures.ts';
import { usage } from './builders.ts';

const pageOf = (team: ReturnType<typeof teamView>): string =>
  renderDelegationDetails({
    agent_id: 'leader',
    title: 'The hall',
    turn: 4,
    state: 'running',
    waiting_for: '',
    usage: usage(),
    executor: { kind: 'team', team_id: team.team_id, view: team },
  });

const working = teamView({
  team_id: 'builders',
  tasks: [
    taskView('d1', { state: 'completed', attempts: 2 }),
    taskView('d2', { member_id: 'writer' }),
    taskView('d3', { state: 'waiting', reason: 'Which region?' }),
    taskView('d4', { state: 'pending', reason: 'design.d2' }),
    taskView('d5', {
      member_id: 'testers',
      executor: {
        kind: 'team',
        team_id: null,
        view: teamView({ tasks: [taskView('d5.d1', { state: 'failed', reason: 'No reply.' })] }),
      },
    }),
  ],
  refused: [{ member_id: 'nobody', reason: 'There is none.' }],
  refused_total: 7,
  notes: ['member_timeout is 60.'],
});

it('TJ1: the part of a team begins with who waits for whom', () => {
  const [first] = teamBlocks(working);
  expect(first).toBe(`## Who waits

- The leader waits for \`design.d2\` of writer, \`design.d3\` of researcher, \`design.d4\` of researcher, \`design.d5\` of testers
- \`design.d3\` of researcher waits: Which region?
- \`design.d4\` of researcher waits: design.d2`);
  const asking = teamView({
    leader: { ...working.leader, state: 'waiting_for_user' },
    tasks: [],
  });
  expect(teamBlocks(asking)[0]).toBe('## Who waits\n\n- The leader waits for an answer');
  const thinking = teamView({ leader: { ...working.leader, state: 'thinking' }, tasks: [] });
  expect(teamBlocks(thinking)[0]).toBe('## Team');
});

it('TJ2: each task is listed with state, member, attempts and cost, those of a nested team below', () => {
  const page = pageOf(working);
  expect(page).toContain(`- **Name:** builders
- **Leader:** leader · waiting for members · 1 turn · $0.002
- **Tasks:** 5 of at most 10
- **Time:** 42 of at most 300 s of work`);
  expect(page).toContain(`### Tasks

- **completed** · Task d1 · \`design.d1\` · researcher · attempt 2 · $0.002
- **running** · Task d2 · \`design.d2\` · writer · $0.002`);
  expect(page).toContain(`· team, its leader: waiting for members
  - **failed** · Task d5.d1 · \`design.d5.d1\` · researcher · $0.002 · No reply.`);
  expect(page).toContain('### Calls that were not carried out: 7\n\n- `nobody` · There is none.');
  expect(page).toContain('### Notes\n\n- member_timeout is 60.');
});

it('TJ1: what waits never pushes out the list of tasks', () => {
  const reason = 'x'.repeat(1_000);
  const tasks = Array.from({ length: engineLimits.teamDelegationsMax }, (_, n) =>
    taskView(`d${n}`, { state: 'pending', reason }),
  );
  const page = pageOf(teamView({ tasks }));
  expect(page).toContain('`design.d9` of researcher and 40 more');
  expect(page).toContain('### Tasks');
});

it('a page keeps its size, and what models wrote stays text', () => {
  const spiteful = '# x\n\n```\n- [a](http://b) <img src=x> **b** `c` _d_ \u202e 1. *'.repeat(50);
  const task = taskView('d1', { title: spiteful, reason: spiteful, state: 'failed' });
  const page = pageOf(
    teamView({
      tasks: Array.from({ length: 200 }, () => task),
      refused: [{ member_id: spiteful, reason: spiteful }],
      refused_total: 1,
      notes: [spiteful],
    }),
  );
  expect(countBytes(page)).toBeLessThanOrEqual(engineLimits.detailsBytesMax);
  expect(page).toContain('… more is left out here');
  expect(page).not.toMatch(/^# x|(?<!\\)<img|\u202e/m);
});
