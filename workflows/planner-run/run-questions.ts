import type { AskedQuestion } from '../../contracts/question.ts';
import { cutText } from '../../core/text/cut-text.ts';

/** Asked by the engine, not by a model: the user decides what the rules can't. */
export function wavesSpentQuestion(waves: number, open: readonly string[]): AskedQuestion {
  const shown = open.slice(0, 20).join(', ');
  return {
    text: `${waves === 1 ? '1 wave is' : `${waves} waves are`} done and criteria are still open: ${shown}. What now?`,
    why_it_matters:
      'continue: as many waves again. finish: end with what there is, the rest named as unmet. ' +
      'waive: give the open criteria up. abandon: end without a result.',
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: ['continue', 'finish', 'waive', 'abandon'],
    default_answer: 'finish',
  };
}

export function waveLostQuestion(wave: number, reason: string): AskedQuestion {
  return {
    text: `Wave ${wave} ended without a result: ${cutText(reason, 1_500)}. What now?`,
    why_it_matters:
      'retry: the planner plans the same again as a new wave. abandon: end the run here.',
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: ['retry', 'abandon'],
    default_answer: 'abandon',
  };
}
