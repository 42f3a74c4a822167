import { CompletionSession } from '../../../contracts/note.ts';
import type { Reply } from '../../../rehearsal/script.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { faultsOf } from '../../support/calls.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  callsOf,
  completed,
  decision,
  ownWorkflows,
  plan,
  plans,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord, storedText } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Create the table of users';
const notes = (...entries: readonly object[]): Reply => ({
  tool_use: [{ name: 'completion_note', input: { notes: entries } }],
});

const resolvesItself = notes(
  {
    action: 'create',
    category: 'code_consistency',
    description: 'Columns are named as in orders.',
    context: 'Writing the table',
  },
  {
    action: 'resolve',
    category: 'requirements',
    description: 'Must emails be unique?',
    context: 'Writing the table',
    text: 'Took them to be unique.',
  },
);

const done = completed('table-done');

describe.each([
  ['inside its wave', {}],
  ['in a workflow of its own', ownWorkflows],
])('notes of a delegation %s', (_where, limits) => {
  it('hold its output back until they are resolved, and become questions', async () => {
    stage.rehearsal.script([
      plans(1, plan([work('table')])),
      works('table', resolvesItself, 1),
      works('table', { json: done }, 2),
      works('table', notes({ action: 'resolve', note_id: 'note_001', text: 'See orders.sql.' }), 3),
      works('table', { json: unmet('blocked', 'Waits.', 'table-done') }, 4),
      works('table', { json: done }, 5),
      { match: { schema: 'decision' }, reply: { json: decision() } },
    ]);
    const run = await stage.start('plannerRun', { goal, notes: true, limits });
    const asked = await openQuestion(stage, run);
    expect(asked).toMatchObject({
      text: 'Must emails be unique?',
      delegation_id: 'table',
      priority: 'critical',
    });
    expect(asked.why_it_matters).toContain('Took them to be unique.');
    await submit(run, { question_id: 'q1', answer: 'Yes, always.', answered_by: 'maria' });
    const result = await stage.result(run);
    expect(result.status).toBe('completed');
    const calls = callsOf(stage.rehearsal, 'table');
    expect(calls).toHaveLength(5);
    expect(calls.map((call) => faultsOf(call))).toMatchObject([
      [],
      [],
      [
        expect.stringContaining('completion drive review: note_001 is open'),
        expect.stringContaining('note_002 is escalated'),
      ],
      [],
      [],
    ]);
    const record = await storedRecord(stage.home, run.workflowId);
    const [last] = record.sessions ?? [];
    expect(last).toMatchObject({ status: 'ready_for_verification', count: 2, unresolved: 0 });
    const text = await storedText(stage.home, last?.session_ref ?? '');
    const session = CompletionSession.parse(JSON.parse(text));
    expect(session.notes).toMatchObject([
      { note_id: 'note_001', status: 'resolved', resolved_by: 'agent_self' },
      { note_id: 'note_002', resolution: 'Yes, always.', resolved_by: 'user' },
    ]);
    await expectPromisesKept(stage, run.workflowId);
  }, 60_000);
});
