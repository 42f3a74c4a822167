import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/bootstrap/hand-over.mjs';
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
    if (goal.name === 'backup-tool') expectSample(run.answer);
  },
);

/** Compares the answer with the sample of the README, which `PLANWAVE_SCREENSHOT=1` writes. */
function expectSample(answer: string): void {
  const file = join(root, 'docs', 'sample-result.md');
  if (process.env['PLANWAVE_SCREENSHOT'] === '1') writeFileSync(file, answer);
  // Cure: npm run pictures
  expect(readFileSync(file, 'utf8')).toBe(answer);
  const [, quoted = ''] =
    /<!-- sample -->\n([^]*?)<!-- \/sample -->/.exec(
      readFileSync(join(root, 'README.md'), 'utf8'),
    ) ?? [];
  const lines = quoted
    .split('\n')
    .map((line) => line.replace(/^> ?/, '').trim())
    .filter((line) => line !== '');
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) expect(answer).toContain(line);
}

function isFile(input: unknown): input is { readonly path: string } {
  return typeof input === 'object' && input !== null && 'content' in input && 'path' in input;
}
