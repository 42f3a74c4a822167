import { findEarlyFault, isEarlyAnswer } from '../../../core/questions/early-answer.ts';
import { openInbox } from '../../../core/questions/step-inbox.ts';

const inbox = { ...openInbox(null), next_question: 3 };

/** The inbox after the askers have asked these questions. */
const asked = (...askers: readonly (readonly string[])[]) => ({
  ...inbox,
  next_question: inbox.next_question + askers.flat().length,
  pending: askers.map((ids, at) => ({
    escalation_id: `e${at}`,
    from: 'run',
    delegation_id: null,
    answers: ids.map((question_id) => ({ question_id, text: 'Which region?', settled: null })),
  })),
});

it('EA1: an answer with the number of a question to come is early', () => {
  for (const question_id of ['q3', ' Q3 ', 'q10', `q${'9'.repeat(400)}`])
    expect(isEarlyAnswer(inbox, { question_id })).toBe(true);
  for (const question_id of ['q2', 'q0', 'q', 'q-3', 'run-2/q3', '3', '', null, 3])
    expect(isEarlyAnswer(inbox, { question_id })).toBe(false);
  for (const payload of [null, 'q3', ['q3'], { answer: 'q3' }])
    expect(isEarlyAnswer(inbox, payload)).toBe(false);
});

it('EA2: an early answer is taken for questions of one asker, and refused where several ask', () => {
  const fault = (now: ReturnType<typeof asked>, question_id: string): string | null =>
    findEarlyFault(inbox, now, { question_id, answer: 'approve' });
  expect(fault(asked(['q3']), 'q3')).toBeNull();
  expect(fault(asked(['q3', 'q4']), 'q4')).toBeNull();
  expect(fault(asked(['q1'], ['q3']), 'q3')).toBeNull();
  // Two that ask the same share a question.
  expect(fault({ ...asked(['q3'], ['q3']), next_question: 4 }, 'q3')).toBeNull();
  for (const id of ['q3', 'q4'])
    expect(fault(asked(['q3'], ['q4']), id)).toContain('several askers');
  // The inbox itself refuses what no one has asked, and takes what was open before.
  expect(fault(asked(['q3'], ['q4']), 'q9')).toBeNull();
  expect(fault(asked(['q3'], ['q4']), 'q2')).toBeNull();
});
