import { AskedQuestion } from '../../../../contracts/question.ts';
import { CompletionSession } from '../../../../contracts/note.ts';
import type { NoteCall, NoteEntry } from '../../../../contracts/state-call.ts';
import type { DeliveredAnswer } from '../../../../contracts/messages.ts';
import { engineLimits } from '../../../../core/limits.ts';
import {
  askNotes,
  checkNotes,
  moveSession,
  noteAssumptions,
  openSession,
  renderSession,
  settleNotes,
} from '../../../../core/notes/session.ts';
import { checkOutline } from '../../../../core/output/check-agent-output.ts';
import { asked, output } from '../builders.ts';
import { judgeNotes } from '../../../../core/notes/judge-notes.ts';

const entry = (over: Partial<NoteEntry>): NoteEntry => ({
  action: 'create',
  note_id: null,
  category: 'implementation_detail',
  description: 'Ids are counted from 1.',
  context: 'writing the loop',
  text: '',
  ...over,
});
const call = (...entries: readonly NoteEntry[]): NoteCall => ({ tool: 'completion_note', entries });
const begun = openSession('create_table_1727539200', 1_000);
const after = (...entries: readonly NoteEntry[]) => judgeNotes(begun, call(...entries), 1_100);

const answer = (over: Partial<DeliveredAnswer> = {}): DeliveredAnswer => ({
  question_id: 'q1',
  text: 'Must emails be unique?',
  answer: 'Yes, always.',
  answer_ref: null,
  answered_by: 'maria',
  loop: false,
  ...over,
});

const escalated = entry({
  action: 'escalate',
  category: 'requirements',
  description: 'Must emails be unique?',
  text: 'The constraint depends on it.',
});

describe('judgeNotes', () => {
  it('takes several notes in one call, each with its line', () => {
    const { session, text, faults } = after(
      entry({}),
      entry({ action: 'resolve', text: 'The tests count from 1.' }),
      escalated,
      entry({ action: 'resolve', note_id: 'note_001', text: 'As in users.ts line 4.' }),
    );
    expect(faults).toEqual([]);
    expect(session.notes.map(({ status }) => status)).toEqual([
      'resolved',
      'resolved',
      'escalated',
    ]);
    expect(text.split('\n')).toEqual([
      'note_001 is open.',
      'note_002 is resolved.',
      'note_003 is escalated.',
      'note_001 is resolved.',
      '3 notes, 1 of them open or escalated.',
    ]);
  });

  it('tells an agent that resolves what it must escalate what has become of it', () => {
    const { session, text } = after(
      entry({ action: 'resolve', category: 'security', text: 'bcrypt' }),
    );
    expect(session.notes[0]?.status).toBe('escalated');
    expect(text).toContain('security is not yours to decide');
    expect(text).toMatch(/\n1 note, 1 of them open or escalated\.$/);
  });

  it('a refused entry changes nothing, and the others count', () => {
    const { session, text, faults } = after(
      entry({ action: 'resolve', text: '' }),
      entry({ category: null }),
      entry({ note_id: 'note_001' }),
      entry({}),
    );
    expect(session.notes).toHaveLength(1);
    expect(faults.map(({ path }) => path)).toEqual([
      'notes[0].text',
      'notes[1].category',
      'notes[2].note_id',
    ]);
    expect(text).toContain('Try: ');
  });
});

describe('the gate', () => {
  const completed = { shape: 'agent_output', output: output() } as const;

  it('NS1 and NS2: a completed output with notes goes back, the first time as a review', () => {
    const { session } = after(entry({}), escalated);
    const faults = checkOutline(completed, ['c1'], [], session);
    expect(faults.map(({ reason }) => reason)).toEqual([
      'completion drive review: note_001 is open: "Ids are counted from 1."',
      'completion drive review: note_002 is escalated: "Must emails be unique?"',
    ]);
    expect(faults[0]?.hint).toContain('"resolve"');
    expect(faults[1]?.hint).toContain('"blocked"');
    const again = checkNotes(moveSession(session, 'review'), output());
    expect(again[0]?.reason).toMatch(/^note_001 is open/);
    expect(checkNotes(session, output({ status: 'failed' }))).toEqual([]);
    const done = settleNotes(after(escalated).session, ['note_001'], [answer()], 1_200).session;
    expect(checkOutline(completed, ['c1'], [], done)).toEqual([]);
  });

  it('O1: an escalated note is question enough for a blocked output', () => {
    const blocked = { shape: 'agent_output', output: output({ status: 'blocked' }) } as const;
    expect(checkOutline(blocked, ['c1'], [], begun)).toHaveLength(1);
    expect(checkOutline(blocked, ['c1'], [], after(escalated).session)).toEqual([]);
  });
});

describe('questions and answers', () => {
  it('NS3: notes become questions, and questions notes, each once', () => {
    const { session } = after(escalated, entry({ description: 'Which port?' }));
    const same = asked({ text: 'must emails be  UNIQUE', why_it_matters: 'It decides the index.' });
    const port = asked({ text: 'Which port?' });
    const other = asked({ text: 'Which region?', why_it_matters: '' });
    const put = askNotes(session, [same, port, other], 1_300);
    expect(put.questions.map(({ text }) => text)).toEqual([
      same.text,
      'Which port?',
      'Which region?',
    ]);
    expect(put.note_ids).toEqual(['note_001', 'note_002', 'note_003']);
    expect(put.session.notes.map(({ status }) => status)).toEqual(Array(3).fill('escalated'));
    const [own] = askNotes(after(escalated).session, [], 1_300).questions;
    expect(AskedQuestion.parse(own)).toMatchObject({ text: 'Must emails be unique?', choices: [] });
    expect(own?.why_it_matters).toContain('The constraint depends on it.');
  });

  it('NS3: the answers resolve them, by a person or by the engine', () => {
    const put = askNotes(after(escalated).session, [asked({ text: 'Which region?' })], 1_300);
    const given = [answer(), answer({ answered_by: 'planner', answer: null, question_id: 'q2' })];
    const { session, answers } = settleNotes(put.session, put.note_ids, given, 1_400);
    const { notes } = session;
    expect(session).not.toHaveProperty('refused');
    expect(answers).toEqual(given);
    expect(notes).toMatchObject([
      { status: 'resolved', resolved_by: 'user', resolution: 'Yes, always.' },
      { status: 'resolved', resolved_by: 'workflow_executor', resolution_timestamp: 1_400 },
    ]);
    expect(notes[1]?.resolution).toContain('q2');
  });

  it.each([
    ['as a loop', { question_id: 'q1', answer: 'This question was asked 2 times before.' }],
    ['because the inbox is full', { question_id: 'not-asked', answer: 'Too many questions.' }],
  ])(
    'NS5: a question refused %s decides nothing, and the output can only fail',
    (_why, refusedAs) => {
      const put = askNotes(after(escalated).session, [asked({ text: 'Which region?' })], 1_300);
      const refusal = answer({ ...refusedAs, answered_by: 'planwave', loop: true });
      const given = [refusal, answer({ question_id: 'q2', answer: 'EU' })];
      const { session, answers } = settleNotes(put.session, put.note_ids, given, 1_400);
      expect(session.notes).toMatchObject([
        { note_id: 'note_001', status: 'escalated', resolution: null, resolved_by: null },
        { note_id: 'note_002', status: 'resolved' },
      ]);
      expect(answers).toEqual([{ ...refusal, note_id: 'note_001' }, given[1]]);
      const check = (over: Parameters<typeof output>[0]) =>
        checkOutline({ shape: 'agent_output', output: output(over) }, ['c1'], [], session);
      const [fault, ...more] = check({});
      expect(more).toEqual([]);
      expect(fault).toMatchObject({ hint: expect.stringContaining('status "failed"') });
      // Neither its note nor the same question is put once more.
      const again = asked({ text: 'must emails be UNIQUE' });
      for (const blocking_questions of [[], [again]]) {
        expect(askNotes(session, blocking_questions, 1_500).questions).toEqual([]);
        expect(check({ status: 'blocked', blocking_questions })).toMatchObject([
          { path: 'status', reason: expect.stringContaining('note_001') },
        ]);
      }
      const other = asked({ text: 'Which port?' });
      expect(askNotes(session, [again, other], 1_500).questions).toEqual([other]);
      expect(check({ status: 'blocked', blocking_questions: [again, other] })).toEqual([]);
      const unmet = [{ criterion_id: 'c1', reason: 'Nobody decides on the emails.' }];
      const coverage = { criteria_met: [], criteria_unmet: unmet };
      expect(check({ status: 'failed', coverage })).toEqual([]);
      // A later attempt and another workflow have the same session.
      const kept = settleNotes(session, ['note_002'], [answer()], 1_600).session;
      expect(kept.refused).toEqual(['note_001']);
    },
  );

  it('no question is lost when there is no room for another note', () => {
    const many = Array.from({ length: engineLimits.notesMax }, (_, at) =>
      entry({ action: 'resolve', description: `Note ${at}`, text: 'Seen.' }),
    );
    const full = judgeNotes(begun, call(...many), 1_100).session;
    const put = askNotes(full, [asked({ text: 'Which region?' })], 1_300);
    expect(put.questions).toHaveLength(1);
    expect(put.note_ids).toEqual([]);
  });

  it('NS4: assumptions become notes that their author resolved, once', () => {
    const assumptions_made = [{ statement: 'Ids fit into 32 bits.', confidence: 'low' as const }];
    const once = noteAssumptions(begun, { assumptions_made }, 1_500);
    expect(noteAssumptions(once, { assumptions_made }, 1_600)).toEqual(once);
    expect(once.notes).toMatchObject([
      { category: 'unclassified', status: 'resolved', resolved_by: 'agent_self' },
    ]);
    expect(once.notes[0]?.resolution).toContain('low');
  });

  it('a session is a file in the format of seed 003', () => {
    const file: unknown = JSON.parse(renderSession(after(entry({}), escalated).session));
    expect(CompletionSession.parse(file)).toEqual(file);
  });
});
