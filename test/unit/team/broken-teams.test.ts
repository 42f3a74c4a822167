import { createFileProjection } from '../../../activities/adapters/file-projection.ts';
import { treePaths } from '../../../activities/projection/paths.ts';
import type { Usage } from '../../../contracts/usage.ts';
import { findBrokenTeams } from '../../support/find-broken-promises.ts';
import type { StoredHistory } from '../../support/histories.ts';
import { usageOf } from '../../support/factories.ts';
import { teamOutcome } from '../../support/team-fixtures.ts';
import { outcome } from '../core/builders.ts';
import { createFolder } from '../record/harness.ts';

function historyOf(usage: Usage): StoredHistory {
  const done = {
    ...outcome('design'),
    usage,
    executor: { kind: 'team' as const, work: teamOutcome() },
  };
  const data = Buffer.from(JSON.stringify({ waves: [{ outcomes: [done] }] }));
  const result = { payloads: [{ data }] };
  const events = [{ workflowExecutionCompletedEventAttributes: { result } }];
  return { workflowId: 'my-run', runId: '', type: 'plannerRun', history: { events } };
}

it('a promise is broken when a team used more than its leader and members, or has no file', async () => {
  const home = await createFolder();
  const whole = usageOf(5);
  expect(findBrokenTeams(home, [historyOf(whole)])).toEqual(['files: the team of design has none']);
  await createFileProjection({ home }).write('my-run', treePaths.team('design'), 'It is here.');
  expect(findBrokenTeams(home, [historyOf(whole)])).toEqual([]);
  expect(findBrokenTeams(home, [historyOf(usageOf(6))])).toEqual([
    'usage: the team of design says other than its leader and members',
  ]);
});
