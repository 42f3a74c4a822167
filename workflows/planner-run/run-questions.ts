import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { cutText } from '../../core/text/cut-text.ts';
import type { RootHost } from '../shared/root-host.ts';
import { retryOrAbandon } from '../../core/questions/answer-kinds.ts';

/** Asked by the engine, not by a model: the user decides what the rules can't. */
export function wavesSpentQuestion(waves: number, open: readonly string[]): AskedQuestion {
  const left =
    open.length === 0
      ? 'no planning has followed what you said last'
      : `criteria are still open: ${open.slice(0, 20).join(', ')}`;
  return {
    text: `${waves === 1 ? '1 wave is' : `${waves} waves are`} done and ${left}. What now?`,
    why_it_matters:
      'continue: as many waves again. finish: end with what there is, the rest named as unmet. ' +
      `${open.length === 0 ? '' : 'waive: give the open criteria up. '}abandon: end without a result.`,
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: ['continue', 'finish', ...(open.length === 0 ? [] : ['waive']), 'abandon'],
    default_answer: 'finish',
  };
}

/** @param spent Use against the budget; empty when nothing is limited. */
export function waveLostQuestion(wave: number, reason: string, spent: string): AskedQuestion {
  return lostQuestion(
    `Wave ${wave}`,
    'the planner plans the same again as a new wave',
    reason,
    spent,
  );
}

function lostQuestion(lost: string, retry: string, reason: string, spent: string): AskedQuestion {
  return {
    text: `${lost} ended without a result: ${cutText(reason, 1_500)}. What now?`,
    why_it_matters:
      `retry: ${retry}. abandon: end the run here.` +
      (spent === ''
        ? ''
        : ` Its calls are counted, and one that never told its end at its worst case: ${spent}.`),
    ...retryOrAbandon,
  };
}

/** Asks the user as the engine. @returns null without an answer. */
export async function askUser(
  host: RootHost,
  kind: 'waves_spent' | 'planner_stuck',
  question: AskedQuestion,
): Promise<DeliveredAnswer | null> {
  const { wave } = host.state;
  const [answer] = await host.ask({
    type: 'questions',
    escalation_id: `run-${wave}#${host.inbox.carry().next_question}`,
    from: host.runId,
    kind,
    wave,
    delegation_id: null,
    agent_id: null,
    questions: [question],
  });
  return answer === undefined || answer.loop ? null : answer;
}

/** @param spent Defined in `waveLostQuestion`. */
export function designLostQuestion(reason: string, spent: string): AskedQuestion {
  const retry = 'the design goes on after its last finished stage';
  return lostQuestion('The design', retry, reason, spent);
}
