import type { PlanwaveClient } from '../../../../client/planwave-client.ts';
import type { RunEnd } from '../../../../client/read-view.ts';
import { createFakeClient } from './fake-client.ts';
import { answeredQuestion, listing, noUsage, question, status } from './samples.ts';

/** The end of a run with one open criterion. */
export function endOf(runStatus: 'completed' | 'finished_unmet'): RunEnd {
  const ref = 'a'.repeat(64);
  return {
    ended: 'result',
    result: {
      run_id: 'run-1',
      status: runStatus,
      waves: 1,
      criteria: [{ criterion_id: 'c1', state: 'open', reason: 'no evidence' }],
      usage: noUsage,
      record_ref: ref,
      result_ref: ref,
      report_ref: ref,
      answer: '# Three databases\n\nTake the second.',
      result_path: 'run-1/result.md',
      report_path: 'run-1/report.md',
    },
  };
}

/** A run that asks one question and completes when it has an answer, or withdraws it and completes. */
export function askingRun(withdraws = false): { client: PlanwaveClient; answers: unknown[] } {
  const answers: unknown[] = [];
  const asked = question({ expected_answer_format: 'boolean', default_answer: 'yes' });
  const isOpen = (): boolean => answers.length === 0;
  const client = createFakeClient({
    describe: () => Promise.resolve(listing(isOpen() ? {} : { execution: 'completed' })),
    status: () =>
      Promise.resolve({
        live: true,
        view: status(isOpen() ? { phase: 'waiting_for_user', open_questions: 1 } : {}),
      }),
    questions: () =>
      Promise.resolve({
        live: true,
        view: {
          open: isOpen() ? [asked] : [],
          answered: isOpen() || withdraws ? [] : [answeredQuestion()],
          rejected: [],
          rejected_total: 0,
        },
      }),
    answer: (_run, { question_id, answer }) => {
      if (answer === 'maybe') {
        return Promise.resolve({
          status: 'refused',
          question_id,
          reason: 'expected true or false',
          example: { question_id, answer: true },
        });
      }
      answers.push(answer);
      return Promise.resolve({ status: 'accepted', question_id, accepted: String(answer) });
    },
    result: () => Promise.resolve(isOpen() ? null : endOf('completed')),
  });
  return { client, answers };
}
