import { playGoal, readPlayedGoals } from '../../support/played/played-goal.ts';
import { playedRunId, runPlayed } from '../../support/played/run-played.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goals = readPlayedGoals();

it.each(goals.map((goal) => [goal.name, goal] as const))(
  'finding P1: %s, as a strong model played it, ends with its answer in one wave and no call more',
  async (_name, goal) => {
    stage.rehearsal.script([{ reply: playGoal(goal, playedRunId(goal)) }]);
    const run = await runPlayed(stage, goal);
    expect(run).toMatchObject({
      status: 'completed',
      waves: 1,
      calls: goal.replies.length,
      loads: 0,
    });
    const written = goal.replies.flatMap(({ tools = [] }) => tools.map(({ input }) => input));
    for (const { path } of written.filter(isFile)) expect(run.answer).toContain(`\`${path}\``);
    expect(run.answer).not.toBe('');
  },
  60_000,
);

function isFile(input: unknown): input is { readonly path: string } {
  return typeof input === 'object' && input !== null && 'content' in input && 'path' in input;
}
