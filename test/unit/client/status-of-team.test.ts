import { runCli } from '../../../client/cli/run-cli.ts';
import { taskView, teamView } from '../../support/team-fixtures.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';
import { noUsage, status } from './support/samples.ts';

it('status of a team that was started alone has a table of its tasks', async () => {
  const team = teamView({
    tasks: [
      taskView('d1', { state: 'completed', title: 'Prices\u001B[2J\nand more' }),
      taskView('d2', {
        member_id: 'testers',
        attempts: 2,
        team: teamView({ tasks: [taskView('d2.d1', { state: 'timed_out' })] }),
      }),
    ],
  });
  const delegation = {
    delegation_id: 'design',
    agent_id: 'leader',
    title: 'Design it',
    state: 'running',
    turn: 4,
    waiting_for: '',
    usage: { ...noUsage, calls: 4 },
    team,
  } as const;
  const io = createFakeIo();
  const view = status({ delegation, usage: noUsage });
  const deps = createFakeDeps(io, {
    status: () => Promise.resolve({ live: true, view }),
    usageNow: (asked) =>
      Promise.resolve({
        usage: asked.delegation?.usage ?? noUsage,
        untold: ['run-1/d3/negotiate'],
      }),
  });
  expect(await runCli(['status', 'run-1'], deps)).toBe(0);
  // No worker has told what a phase has used.
  expect(io.out()).toContain(' · at least 4 calls · ');
  expect(io.out()).toContain(`leader waits for its members, 2 of 10 tasks, 42 of 300 s
task          member      state      attempts  cost    title
design.d1     researcher  completed  1         $0.002  Prices and more
design.d2     testers     running    2         $0.002  Task d2
design.d2.d1  researcher  timed out  1         $0.002  Task d2.d1
`);
});
