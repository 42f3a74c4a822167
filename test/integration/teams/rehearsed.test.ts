import type { PlannerRunInput } from '../../../contracts/planner-run.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const desk = { team_id: 'desk', members: [{ id: 'researcher' }, { id: 'writer' }] };

/** Goals whose first wave has a team, and its name. */
const goals = [
  ['own', 'Compare two ways to store a backup [team]', null],
  ['named', 'Compare two ways to store a backup [team:desk]', 'desk'],
] as const;

it('a run with a team comes to its end on the rehearsal model, by its name and by members of the plan', async () => {
  // The team, and one agent beside it.
  const limits = { max_delegations: 2 };
  const runs = await Promise.all(
    goals.map(([id, goal]) => {
      const input: PlannerRunInput = { goal, use_defaults: true, limits, teams: [desk] };
      return stage.start('plannerRun', input, `rehearsed-${id}`);
    }),
  );
  const results = await Promise.all(runs.map((run) => stage.result(run)));
  for (const [at, [id, , name]] of goals.entries()) {
    const runId = `rehearsed-${id}`;
    expect([runId, results[at]?.status]).toEqual([runId, 'completed']);
    const { waves } = await storedRecord(stage.home, runId);
    const teams = waves.flatMap(({ outcomes }) => outcomes.flatMap(({ team }) => team ?? []));
    expect(teams.map(({ team_id, partial }) => [team_id, partial])).toEqual([[name, false]]);
    expect(teams.flatMap(({ members }) => members.map((one) => one.delegations))).toEqual([1, 1]);
    await expectPromisesKept(stage, runId);
  }
}, 90_000);
