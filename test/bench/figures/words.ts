import type { Figure, FigureRow } from '../figure.ts';
import { formatNumber } from '../format.ts';
import { readPlayedGoals } from '../../support/played/played-goal.ts';
import { runPlayed } from '../../support/played/run-played.ts';
import type { PlayedRun } from '../../support/played/run-played.ts';

const answerShareMin = 0.4;

/** The goal that took four waves when a written file and an unmet criterion did not reach those who depended on them. */
const smallGoal = 'iso-8601';

export const words: Figure = {
  name: 'words',
  about: 'share of the output that is the answer, in six goals that were played by hand',
  measure: ({ say, withStage }) =>
    withStage(async (stage) => {
      const runs: PlayedRun[] = [];
      for (const goal of readPlayedGoals()) {
        say(`${goal.name} …`);
        // One goal after the other.
        // oxlint-disable-next-line no-await-in-loop
        runs.push(await runPlayed(stage, goal));
      }
      const bought = runs.find(({ goal, calls }) => calls !== goal.replies.length);
      if (bought !== undefined) throw new Error(`${bought.goal.name} took ${bought.calls} calls.`);
      return toRows(runs);
    }),
};

function toRows(runs: readonly PlayedRun[]): FigureRow[] {
  const total = (of: (run: PlayedRun) => number): number =>
    runs.reduce((sum, run) => sum + of(run), 0);
  const answer = total(({ answerChars }) => answerChars);
  const output = total(({ outputChars }) => outputChars);
  const waves = runs.find(({ goal }) => goal.name === smallGoal)?.waves ?? 0;
  const loads = total((run) => run.loads);
  return [
    {
      figure: 'answer in the output of six goals that were played by hand',
      target: `≥ ${answerShareMin * 100} %`,
      measured: `${Math.round((answer / output) * 100)} %: ${formatNumber(answer)} of ${formatNumber(output)} characters in ${total(({ calls }) => calls)} calls`,
      floor: '',
      reached: answer >= answerShareMin * output,
      notes: runs
        .map((run) => `${run.goal.name} ${Math.round((run.answerChars / run.outputChars) * 100)} %`)
        .join(', '),
      numbers: { answer_chars: answer, output_chars: output },
    },
    {
      figure: 'waves of the ISO 8601 goal',
      target: '1',
      measured: String(waves),
      floor: '',
      reached: waves === 1,
      notes: '',
      numbers: { waves },
    },
    {
      figure: 'calls of load_detail in the six goals',
      target: '0',
      measured: String(loads),
      floor: '',
      reached: loads === 0,
      notes: 'Direct inputs are given in full.',
      numbers: { loads },
    },
  ];
}
