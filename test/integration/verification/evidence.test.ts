import type { CoordinationPlan } from '../../../contracts/coordination-plan.ts';
import type { Reply, ScriptRule } from '../../../rehearsal/script.ts';
import { eventually } from '../../support/eventually.ts';
import { planTask, samplePlan } from '../../support/plans.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  callsOf,
  completed,
  decision,
  newestText,
  plan,
  plans,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const task_id = 'rates_1727539200';

/** A plan as a person types it: one task, whose file must be there. */
const typed: CoordinationPlan = {
  ...samplePlan(),
  tasks: [
    planTask('rates', {
      validation: {
        verified_by: 'reviewer_agent',
        evidence: [
          {
            evidence_id: 'rates-done',
            description: 'The file names all 3 rates.',
            check: { kind: 'file', path: 'rates.json', sha256: null },
          },
        ],
      },
    }),
  ],
  agents: samplePlan().agents.filter(({ agent_name }) => agent_name !== 'api_agent'),
  risks: [],
  new_agents: [],
};

it('an output whose check fails reaches no verifier; its doer begins anew and is told', async () => {
  const input = { path: 'rates.json', content: '[1, 2, 3]\n' };
  stage.rehearsal.script([
    works(task_id, { json: completed('rates-done') }, 1),
    works(task_id, { tool_use: [{ name: 'write_file', input }] }, 2),
    works(task_id, { json: completed('rates-done') }, 3),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Ship', plan: typed, auto_approve: true });
  expect(await stage.result(run)).toMatchObject({
    status: 'completed',
    criteria: [{ criterion_id: 'rates-done', state: 'met' }],
  });
  const calls = callsOf(stage.rehearsal, task_id);
  expect(calls.map(({ shape }) => shape)).toEqual([
    'delegation',
    'delegation',
    'delegation',
    'verification',
  ]);
  expect(newestText(calls[1])).toContain('rates-done: file rates.json');
  await expectPromisesKept(stage, run.workflowId);
});

it('a verifier that gives no valid verdict is asked again, then the user; guided, it judges the same output', async () => {
  // A failure that names nothing.
  const json = { verdict: 'fail', missing_evidence: [], reviewed_notes: [] };
  stage.rehearsal.script([{ match: { schema: 'verification' }, reply: { json } }]);
  const task = { agent_id: 'writer', task_description: 'Write a line.', verify: true };
  const run = await stage.start('delegation', task);
  const questionAt = (n: number) =>
    eventually(`question ${n}`, async () => {
      const { open, answered } = await stage.questions(run);
      return answered.length === n - 1 ? open.at(0) : undefined;
    });
  const { question_id, text } = await questionAt(1);
  expect(text).toContain('The verifier gave no valid verdict');
  stage.rehearsal.script([]);
  await run.signal('answer', { question_id, answer: 'guide' });
  const told = await questionAt(2);
  await run.signal('answer', { question_id: told.question_id, answer: 'Name what is missing.' });
  expect(await stage.result(run)).toMatchObject({
    status: 'completed',
    verification: { status: 'verified', attempts: 2 },
  });
  const shapes = stage.rehearsal.calls().map(({ shape }) => shape);
  expect(shapes.filter((shape) => shape === 'delegation')).toHaveLength(1);
  expect(shapes.at(-1)).toBe('verification');
  expect(JSON.stringify(stage.rehearsal.calls().at(-1)?.body)).toContain('Name what is missing.');
});

it('a verifier that does not accept a note fails the output, and its author is told', async () => {
  const note = {
    category: 'code_consistency',
    context: 'Writing',
    description: 'Names as in orders.',
  };
  const noted: Reply = {
    tool_use: [
      { name: 'completion_note', input: { notes: [{ action: 'create', ...note }] } },
      {
        name: 'completion_note',
        input: { notes: [{ action: 'resolve', note_id: 'note_001', text: 'Took them over.' }] },
      },
    ],
  };
  const comment = 'orders.sql is outdated: take the names of users.sql';
  const judges = (verdict: string, accepted: boolean | null, nth: number): ScriptRule => ({
    match: { schema: 'verification', nth },
    reply: {
      json: {
        verdict,
        missing_evidence: [],
        reviewed_notes:
          accepted === null
            ? []
            : [{ note_id: 'note_001', accepted, comment: accepted ? '' : comment }],
      },
    },
  });
  stage.rehearsal.script([
    plans(1, plan([work('table')])),
    works('table', noted, 1),
    works('table', { json: completed('table-done') }, 2),
    works('table', { json: completed('table-done') }, 3),
    // It may not pass what it refuses.
    judges('pass', false, 1),
    judges('fail', false, 2),
    // Nor what it has left out.
    judges('pass', null, 3),
    judges('pass', true, 4),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const input = { goal: 'Create the table', notes: true, verify: true };
  const run = await stage.start('plannerRun', input);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const calls = callsOf(stage.rehearsal, 'table');
  const verifications = calls.filter(({ shape }) => shape === 'verification');
  expect(newestText(verifications[0])).toContain('Took them over.');
  expect(newestText(verifications[1])).toContain('note_001 not accepted');
  expect(newestText(verifications[3])).toContain('note_001 not judged');
  const [, , again] = calls.filter(({ shape }) => shape === 'delegation');
  expect(newestText(again)).toContain(`note_001 is not accepted: ${comment}`);
  await expectPromisesKept(stage, run.workflowId);
});
